package io.github.grantd;

/**
 * Where a listing of API keys begins.
 *
 * @param limit items of a page, up to 1,000; null: 100
 * @param cursor where to resume, or null
 */
public record KeysQuery(Integer limit, String cursor) {
    /**
     * All keys.
     *
     * @return the query
     */
    public static KeysQuery all() {
        return new KeysQuery(null, null);
    }

    /**
     * The same with another {@code limit}.
     *
     * @param limit items of a page, up to 1,000; null: 100
     * @return the new query
     */
    public KeysQuery withLimit(Integer limit) {
        return new KeysQuery(limit, cursor);
    }

    /**
     * The same with another {@code cursor}.
     *
     * @param cursor where to resume, or null
     * @return the new query
     */
    public KeysQuery withCursor(String cursor) {
        return new KeysQuery(limit, cursor);
    }

    Request request() {
        return Request.get("listKeys", "/v1/keys", Request.query("limit", limit, "cursor", cursor));
    }
}
