// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

/**
 * A response of the service.
 *
 * @param authorized Whether the relationship holds.
 */
public record BulkCheckAnswer(boolean authorized) {
    static BulkCheckAnswer decode(Object value) {
        Fields fields = Fields.of(value);
        return new BulkCheckAnswer(
            fields.required("authorized", Fields::bool));
    }
}
