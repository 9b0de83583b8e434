package io.github.grantd;

import io.github.grantd.internal.Json;

/**
 * The subjects that have a relation or derived name on an object.
 *
 * @param object on what, such as {@code document:plan}
 * @param relation a relation or derived name
 * @param namespace only subjects of this namespace, or null
 * @param via {@code direct}: without what follows from the rules; or null
 * @param include {@code self}: also the groups {@code object#name} of the object itself whose members hold it by definition; or null
 * @param limit items of a page, up to 1,000; null: 100
 * @param cursor where to resume, or null
 * @param context the context of the call, or null
 */
public record SubjectsQuery(
    String object,
    String relation,
    String namespace,
    String via,
    String include,
    Integer limit,
    String cursor,
    CallContext context) {
    /**
     * Copies what can change.
     *
     * @param object as in the record
     * @param relation as in the record
     * @param namespace as in the record
     * @param via as in the record
     * @param include as in the record
     * @param limit as in the record
     * @param cursor as in the record
     * @param context as in the record
     */
    public SubjectsQuery {
        context = context == null ? CallContext.NONE : context;
    }

    /**
     * All subjects.
     *
     * @param object on what, such as {@code document:plan}
     * @param relation a relation or derived name
     * @return the query
     */
    public static SubjectsQuery of(String object, String relation) {
        return new SubjectsQuery(object, relation, null, null, null, null, null, null);
    }

    /**
     * The same with another {@code namespace}.
     *
     * @param namespace only subjects of this namespace, or null
     * @return the new query
     */
    public SubjectsQuery withNamespace(String namespace) {
        return new SubjectsQuery(object, relation, namespace, via, include, limit, cursor, context);
    }

    /**
     * The same with another {@code via}.
     *
     * @param via {@code direct}: without what follows from the rules; or null
     * @return the new query
     */
    public SubjectsQuery withVia(String via) {
        return new SubjectsQuery(object, relation, namespace, via, include, limit, cursor, context);
    }

    /**
     * The same with another {@code include}.
     *
     * @param include {@code self}: also the groups {@code object#name} of the object itself whose members hold it by definition; or null
     * @return the new query
     */
    public SubjectsQuery withInclude(String include) {
        return new SubjectsQuery(object, relation, namespace, via, include, limit, cursor, context);
    }

    /**
     * The same with another {@code limit}.
     *
     * @param limit items of a page, up to 1,000; null: 100
     * @return the new query
     */
    public SubjectsQuery withLimit(Integer limit) {
        return new SubjectsQuery(object, relation, namespace, via, include, limit, cursor, context);
    }

    /**
     * The same with another {@code cursor}.
     *
     * @param cursor where to resume, or null
     * @return the new query
     */
    public SubjectsQuery withCursor(String cursor) {
        return new SubjectsQuery(object, relation, namespace, via, include, limit, cursor, context);
    }

    /**
     * The same with another {@code context}.
     *
     * @param context the context of the call, or null
     * @return the new query
     */
    public SubjectsQuery withContext(CallContext context) {
        return new SubjectsQuery(object, relation, namespace, via, include, limit, cursor, context);
    }

    Request request() {
        var members = Json.object(
            "object", object, "relation", relation, "namespace", namespace, "via", via, "include", include,
            "limit", limit, "cursor", cursor);
        return Request.listing("listSubjects", "/v1/subjects", members, context);
    }
}
