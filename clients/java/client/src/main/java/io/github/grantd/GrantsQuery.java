package io.github.grantd;

/**
 * The grants of a subject, or on an object: one of the two.
 *
 * @param subject whose grants, or null
 * @param object the object that they are on, or null
 * @param relation only this relation, or null
 * @param limit items of a page, up to 1,000; null: 100
 * @param cursor where to resume, or null
 */
public record GrantsQuery(String subject, String object, String relation, Integer limit, String cursor) {
    /**
     * The grants of a subject.
     *
     * @param subject whose grants, or null
     * @return the query
     */
    public static GrantsQuery ofSubject(String subject) {
        return new GrantsQuery(subject, null, null, null, null);
    }

    /**
     * The grants on an object.
     *
     * @param object the object that they are on, or null
     * @return the query
     */
    public static GrantsQuery onObject(String object) {
        return new GrantsQuery(null, object, null, null, null);
    }

    /**
     * The same with another {@code relation}.
     *
     * @param relation only this relation, or null
     * @return the new query
     */
    public GrantsQuery withRelation(String relation) {
        return new GrantsQuery(subject, object, relation, limit, cursor);
    }

    /**
     * The same with another {@code limit}.
     *
     * @param limit items of a page, up to 1,000; null: 100
     * @return the new query
     */
    public GrantsQuery withLimit(Integer limit) {
        return new GrantsQuery(subject, object, relation, limit, cursor);
    }

    /**
     * The same with another {@code cursor}.
     *
     * @param cursor where to resume, or null
     * @return the new query
     */
    public GrantsQuery withCursor(String cursor) {
        return new GrantsQuery(subject, object, relation, limit, cursor);
    }

    Request request() {
        return Request.get("listGrants", "/v1/grants", Request.query(
            "subject", subject, "object", object, "relation", relation, "limit", limit, "cursor", cursor));
    }
}
