// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

/**
 * A response of the service.
 *
 * @param name The name.
 */
public record FoundAction(String name) {
    static FoundAction decode(Object value) {
        Fields fields = Fields.of(value);
        return new FoundAction(
            fields.required("name", Fields::text));
    }
}
