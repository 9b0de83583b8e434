// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * A response of the service.
 *
 * @param grants One per grant, in the order of the request.
 * @param revocations One per revocation, in the order of the request.
 */
public record BulkWriteResult(List<WrittenGrant> grants, List<Revocation> revocations) {
    /**
     * Copies lists and maps.
     *
     * @param grants as in the record
     * @param revocations as in the record
     */
    public BulkWriteResult {
        grants = Fields.copy(grants, List.of());
        revocations = Fields.copy(revocations, List.of());
    }

    static BulkWriteResult decode(Object value) {
        Fields fields = Fields.of(value);
        return new BulkWriteResult(
            fields.required("grants", Fields.list(WrittenGrant::decode)),
            fields.required("revocations", Fields.list(Revocation::decode)));
    }
}
