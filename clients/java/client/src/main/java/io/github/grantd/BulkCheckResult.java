// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.time.Instant;
import java.util.List;

/**
 * A response of the service.
 *
 * @param results One per check, in the order of the request.
 * @param checkedAt The moment at which all of them were decided. ISO 8601 in UTC with milliseconds.
 */
public record BulkCheckResult(List<BulkCheckAnswer> results, Instant checkedAt) {
    /**
     * Copies lists and maps.
     *
     * @param results as in the record
     * @param checkedAt as in the record
     */
    public BulkCheckResult {
        results = Fields.copy(results, List.of());
    }

    static BulkCheckResult decode(Object value) {
        Fields fields = Fields.of(value);
        return new BulkCheckResult(
            fields.required("results", Fields.list(BulkCheckAnswer::decode)),
            fields.required("checked_at", Fields::time));
    }
}
