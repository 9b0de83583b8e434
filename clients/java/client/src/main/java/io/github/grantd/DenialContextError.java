// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

/**
 * What is wrong with this element.
 *
 * @param status The status.
 * @param message The message.
 */
public record DenialContextError(long status, String message) {
    static DenialContextError decode(Object value) {
        Fields fields = Fields.of(value);
        return new DenialContextError(
            fields.required("status", Fields::integer),
            fields.required("message", Fields::text));
    }
}
