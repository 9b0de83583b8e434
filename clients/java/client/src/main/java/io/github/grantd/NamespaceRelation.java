// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

/**
 * A relation on objects of a namespace.
 *
 * @param namespace The part of subjects and objects before the first colon.
 * @param relation One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest,
 *     parent), or one that the rules of the tenant declare. The rules say what follows from it; without rules,
 *     nothing.
 */
public record NamespaceRelation(String namespace, String relation) {
    static NamespaceRelation decode(Object value) {
        Fields fields = Fields.of(value);
        return new NamespaceRelation(
            fields.required("namespace", Fields::text),
            fields.required("relation", Fields::text));
    }
}
