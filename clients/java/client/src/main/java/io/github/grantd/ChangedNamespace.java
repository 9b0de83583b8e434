// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

/**
 * Only for {@code namespace.created}.
 *
 * @param name The part of subjects and objects before the first colon.
 */
public record ChangedNamespace(String name) {
    static ChangedNamespace decode(Object value) {
        Fields fields = Fields.of(value);
        return new ChangedNamespace(
            fields.required("name", Fields::text));
    }
}
