// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.time.Instant;

/**
 * Only for {@code grant.updated}: the terms that the grant had before. Absent from changes that version 0.2 recorded,
 * which did not keep them.
 *
 * @param expiresAt The grant holds until just before this moment; {@code null}: it never expires. ISO 8601 in UTC
 *     with milliseconds.
 * @param condition The grant holds only where this condition is met. Absent: it has none. Null if absent.
 */
public record FormerTerms(Instant expiresAt, GrantCondition condition) {
    static FormerTerms decode(Object value) {
        Fields fields = Fields.of(value);
        return new FormerTerms(
            fields.nullable("expires_at", Fields::time),
            fields.optional("condition", GrantCondition::decode));
    }
}
