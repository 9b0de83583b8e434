package io.github.grantd;

import java.util.List;

/**
 * The grants of some relations on objects of some namespaces.
 *
 * @param on the relations, such as {@code document:viewer}
 * @param limit items of a page, up to 1,000; null: 100
 * @param cursor where to resume, or null
 */
public record SnapshotQuery(List<String> on, Integer limit, String cursor) {
    /**
     * Copies what can change.
     *
     * @param on as in the record
     * @param limit as in the record
     * @param cursor as in the record
     */
    public SnapshotQuery {
        on = Fields.copy(on, List.of());
    }

    /**
     * From the first page on.
     *
     * @param on the relations, such as {@code document:viewer}
     * @return the query
     */
    public static SnapshotQuery of(List<String> on) {
        return new SnapshotQuery(on, null, null);
    }

    /**
     * The same with another {@code limit}.
     *
     * @param limit items of a page, up to 1,000; null: 100
     * @return the new query
     */
    public SnapshotQuery withLimit(Integer limit) {
        return new SnapshotQuery(on, limit, cursor);
    }

    /**
     * The same with another {@code cursor}.
     *
     * @param cursor where to resume, or null
     * @return the new query
     */
    public SnapshotQuery withCursor(String cursor) {
        return new SnapshotQuery(on, limit, cursor);
    }

    Request request() {
        return Request.get("listGrants", "/v1/grants", Request.query(
            "on", Request.items("on", on), "limit", limit, "cursor", cursor));
    }
}
