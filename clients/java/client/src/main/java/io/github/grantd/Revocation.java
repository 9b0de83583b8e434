// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

/**
 * A revocation of a bulk write.
 *
 * @param revoked False: there was no such grant.
 */
public record Revocation(boolean revoked) {
    static Revocation decode(Object value) {
        Fields fields = Fields.of(value);
        return new Revocation(
            fields.required("revoked", Fields::bool));
    }
}
