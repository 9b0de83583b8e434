// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.time.Instant;

/**
 * A response of the service.
 *
 * @param name The part of subjects and objects before the first colon.
 * @param createdAt When it was created, explicitly or by the first grant that names it. ISO 8601 in UTC with
 *     milliseconds.
 */
public record Namespace(String name, Instant createdAt) {
    static Namespace decode(Object value) {
        Fields fields = Fields.of(value);
        return new Namespace(
            fields.required("name", Fields::text),
            fields.required("created_at", Fields::time));
    }
}
