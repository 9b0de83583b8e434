// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

/**
 * A subject or resource that was found.
 *
 * @param type The namespace of the identifier {@code type:id}.
 * @param id Unique within its type.
 * @param properties Only of the id {@code *}: whom a gate of the rules takes out of all subjects of the type. Null if
 *     absent.
 */
public record FoundEntity(String type, String id, FoundEntityProperties properties) {
    static FoundEntity decode(Object value) {
        Fields fields = Fields.of(value);
        return new FoundEntity(
            fields.required("type", Fields::text),
            fields.required("id", Fields::text),
            fields.optional("properties", FoundEntityProperties::decode));
    }
}
