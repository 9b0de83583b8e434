package io.github.grantd;

import io.github.grantd.internal.Json;

/**
 * The objects on which a subject has a relation or derived name.
 *
 * @param subject who, such as {@code user:ada}
 * @param relation a relation or derived name
 * @param namespace only objects of this namespace, or null
 * @param via {@code direct}: without what follows from the rules; or null
 * @param limit items of a page, up to 1,000; null: 100
 * @param cursor where to resume, or null
 * @param context the context of the call, or null
 */
public record ObjectsQuery(
    String subject,
    String relation,
    String namespace,
    String via,
    Integer limit,
    String cursor,
    CallContext context) {
    /**
     * Copies what can change.
     *
     * @param subject as in the record
     * @param relation as in the record
     * @param namespace as in the record
     * @param via as in the record
     * @param limit as in the record
     * @param cursor as in the record
     * @param context as in the record
     */
    public ObjectsQuery {
        context = context == null ? CallContext.NONE : context;
    }

    /**
     * All objects.
     *
     * @param subject who, such as {@code user:ada}
     * @param relation a relation or derived name
     * @return the query
     */
    public static ObjectsQuery of(String subject, String relation) {
        return new ObjectsQuery(subject, relation, null, null, null, null, null);
    }

    /**
     * The same with another {@code namespace}.
     *
     * @param namespace only objects of this namespace, or null
     * @return the new query
     */
    public ObjectsQuery withNamespace(String namespace) {
        return new ObjectsQuery(subject, relation, namespace, via, limit, cursor, context);
    }

    /**
     * The same with another {@code via}.
     *
     * @param via {@code direct}: without what follows from the rules; or null
     * @return the new query
     */
    public ObjectsQuery withVia(String via) {
        return new ObjectsQuery(subject, relation, namespace, via, limit, cursor, context);
    }

    /**
     * The same with another {@code limit}.
     *
     * @param limit items of a page, up to 1,000; null: 100
     * @return the new query
     */
    public ObjectsQuery withLimit(Integer limit) {
        return new ObjectsQuery(subject, relation, namespace, via, limit, cursor, context);
    }

    /**
     * The same with another {@code cursor}.
     *
     * @param cursor where to resume, or null
     * @return the new query
     */
    public ObjectsQuery withCursor(String cursor) {
        return new ObjectsQuery(subject, relation, namespace, via, limit, cursor, context);
    }

    /**
     * The same with another {@code context}.
     *
     * @param context the context of the call, or null
     * @return the new query
     */
    public ObjectsQuery withContext(CallContext context) {
        return new ObjectsQuery(subject, relation, namespace, via, limit, cursor, context);
    }

    Request request() {
        var members = Json.object(
            "subject", subject, "relation", relation, "namespace", namespace, "via", via, "limit", limit, "cursor", cursor);
        return Request.listing("listObjects", "/v1/objects", members, context);
    }
}
