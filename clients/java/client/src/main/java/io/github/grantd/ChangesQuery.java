package io.github.grantd;

import java.util.List;
import java.util.Map;

/**
 * Where the change feed begins, and which changes it has.
 *
 * @param cursor only changes after it, or null
 * @param since only changes since this time (RFC 3339), or from {@code now} on; not with a cursor; or null
 * @param namespaces only grants on objects of these namespaces, the namespaces themselves, and rules; empty: all
 * @param relations only grants of these relations, and rules; empty: all
 * @param on only grants of these relations on objects of these namespaces, such as {@code document:viewer}, and rules; not
 *     with namespaces or relations; empty: all
 * @param actions only these, such as {@code grant.created}; empty: all
 * @param checkpoints whether the feed also has checkpoints: one after each batch of changes, and every few seconds
 *     without one
 */
public record ChangesQuery(
    String cursor,
    String since,
    List<String> namespaces,
    List<String> relations,
    List<String> on,
    List<String> actions,
    boolean checkpoints) {
    /**
     * Copies what can change.
     *
     * @param cursor as in the record
     * @param since as in the record
     * @param namespaces as in the record
     * @param relations as in the record
     * @param on as in the record
     * @param actions as in the record
     * @param checkpoints as in the record
         */
    public ChangesQuery {
        namespaces = Fields.copy(namespaces, List.of());
        relations = Fields.copy(relations, List.of());
        on = Fields.copy(on, List.of());
        actions = Fields.copy(actions, List.of());
    }

    /**
     * From the oldest stored change on.
     *
     * @return the query
     */
    public static ChangesQuery fromStart() {
        return after(null);
    }

    /**
     * After a cursor.
     *
     * @param cursor only changes after it, or null
     * @return the query
     */
    public static ChangesQuery after(String cursor) {
        return new ChangesQuery(cursor, null, null, null, null, null, false);
    }

    /**
     * Since a time, or from {@code now} on.
     *
     * @param since only changes since this time (RFC 3339), or from {@code now} on; not with a cursor; or null
     * @return the query
     */
    public static ChangesQuery since(String since) {
        return new ChangesQuery(null, since, null, null, null, null, false);
    }

    /**
     * The same with other {@code namespaces}.
     *
     * @param namespaces only grants on objects of these namespaces, the namespaces themselves, and rules; empty: all
     * @return the new query
     */
    public ChangesQuery withNamespaces(List<String> namespaces) {
        return new ChangesQuery(cursor, since, namespaces, relations, on, actions, checkpoints);
    }

    /**
     * The same with other {@code relations}.
     *
     * @param relations only grants of these relations, and rules; empty: all
     * @return the new query
     */
    public ChangesQuery withRelations(List<String> relations) {
        return new ChangesQuery(cursor, since, namespaces, relations, on, actions, checkpoints);
    }

    /**
     * The same with other {@code on}.
     *
     * @param on only grants of these relations on objects of these namespaces, such as {@code document:viewer}, and rules; not
     *     with namespaces or relations; empty: all
     * @return the new query
     */
    public ChangesQuery withOn(List<String> on) {
        return new ChangesQuery(cursor, since, namespaces, relations, on, actions, checkpoints);
    }

    /**
     * The same with other {@code actions}.
     *
     * @param actions only these, such as {@code grant.created}; empty: all
     * @return the new query
     */
    public ChangesQuery withActions(List<String> actions) {
        return new ChangesQuery(cursor, since, namespaces, relations, on, actions, checkpoints);
    }

    /**
     * The same with or without {@code checkpoints}.
     *
     * @param checkpoints whether the feed also has checkpoints: one after each batch of changes, and every few seconds
     *     without one
     * @return the new query
     */
    public ChangesQuery withCheckpoints(boolean checkpoints) {
        return new ChangesQuery(cursor, since, namespaces, relations, on, actions, checkpoints);
    }

    ChangesQuery at(String position) {
        return new ChangesQuery(position, null, namespaces, relations, on, actions, checkpoints);
    }

    private Map<String, String> parameters(Object... more) {
        Map<String, String> all = Request.query(
            "cursor", cursor, "since", since, "namespace", Request.items("namespace", namespaces),
            "relation", Request.items("relation", relations), "on", Request.items("on", on),
            "action", Request.items("action", actions));
        all.putAll(Request.query(more));
        return all;
    }

    /** One page. `limit` and `waitSeconds` may be null. */
    Request page(Integer limit, Long waitSeconds) {
        return Request.get("listChanges", "/v1/changes", parameters("limit", limit, "wait", waitSeconds));
    }

    Request stream() {
        return Request.get("listChanges", "/v1/changes", parameters("checkpoints", checkpoints ? "batch" : null));
    }
}
