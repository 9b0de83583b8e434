// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

/**
 * A response of the service.
 *
 * @param revoked Grants that this call has revoked; of a dry run, would revoke.
 * @param complete Whether no grant that matches was left at that moment, or would be.
 */
public record RevokeResult(long revoked, boolean complete) {
    static RevokeResult decode(Object value) {
        Fields fields = Fields.of(value);
        return new RevokeResult(
            fields.required("revoked", Fields::integer),
            fields.required("complete", Fields::bool));
    }
}
