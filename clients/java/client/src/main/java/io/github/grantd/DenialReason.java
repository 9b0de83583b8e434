// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * If asked for, and only if not authorized: the fewest grants found that decide it. Without those in {@code
 * excluded_by}, with the conditions in {@code unmet} met, and with those in {@code missing}, the subject would hold
 * the relation; each of them is needed.
 *
 * @param text One sentence, for people.
 * @param excludedBy Grants that exclude the subject.
 * @param unmet Grants whose condition is not met.
 * @param missing Grants that do not exist.
 * @param cut True: these are not all, or none could be found. Null if absent.
 */
public record DenialReason(
    String text,
    List<ReasonGrant> excludedBy,
    List<ReasonGrant> unmet,
    List<Tuple> missing,
    Boolean cut) {
    /**
     * Copies lists and maps.
     *
     * @param text as in the record
     * @param excludedBy as in the record
     * @param unmet as in the record
     * @param missing as in the record
     * @param cut as in the record
     */
    public DenialReason {
        excludedBy = Fields.copy(excludedBy, List.of());
        unmet = Fields.copy(unmet, List.of());
        missing = Fields.copy(missing, List.of());
    }

    static DenialReason decode(Object value) {
        Fields fields = Fields.of(value);
        return new DenialReason(
            fields.required("text", Fields::text),
            fields.required("excluded_by", Fields.list(ReasonGrant::decode)),
            fields.required("unmet", Fields.list(ReasonGrant::decode)),
            fields.required("missing", Fields.list(Tuple::decode)),
            fields.optional("cut", Fields::bool));
    }
}
