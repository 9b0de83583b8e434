// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

/**
 * A name that checks can no longer ask about.
 *
 * @param name The name.
 */
public record VanishingName(String name) {
    static VanishingName decode(Object value) {
        Fields fields = Fields.of(value);
        return new VanishingName(
            fields.required("name", Fields::text));
    }
}
