// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.time.Instant;

/**
 * A name that checks can no longer ask about.
 *
 * @param name The name.
 * @param askedAt When a key of the tenant last asked about the name, in a check or a listing, to the minute; {@code
 *     null}: not in the last day, as far as is known. ISO 8601 in UTC with milliseconds.
 */
public record VanishingName(String name, Instant askedAt) {
    static VanishingName decode(Object value) {
        Fields fields = Fields.of(value);
        return new VanishingName(
            fields.required("name", Fields::text),
            fields.nullable("asked_at", Fields::time));
    }
}
