// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.time.Instant;

/**
 * The moment of which the answer is.
 *
 * @param seq A place in the log: the answer has every change up to it, and no other.
 * @param time Grants that expire by then have expired. ISO 8601 in UTC with milliseconds.
 */
public record LogMoment(long seq, Instant time) {
    static LogMoment decode(Object value) {
        Fields fields = Fields.of(value);
        return new LogMoment(
            fields.required("seq", Fields::integer),
            fields.required("time", Fields::time));
    }
}
