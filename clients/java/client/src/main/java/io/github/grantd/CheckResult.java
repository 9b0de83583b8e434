// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * A response of the service.
 *
 * @param authorized Whether the relationship holds.
 * @param checkedAt When it was decided. ISO 8601 in UTC with milliseconds.
 * @param because If asked for, and only if authorized: a shortest chain of grants, from the subject to the object,
 *     without those of {@code context_grants}, which are in {@code proof}. Empty: it has no others, or a group is
 *     part of itself. Under rules with gates, the grants of the proof. Null if absent.
 * @param reason If asked for, and only if not authorized: the fewest grants found that decide it. Without those in
 *     {@code excluded_by}, with the conditions in {@code unmet} met, and with those in {@code missing}, the subject
 *     would hold the relation; each of them is needed. Null if absent.
 * @param proof If asked for, under rules with gates: why, as a tree. Each node says whether {@code name} holds on
 *     {@code object}, and, if it does, {@code because} of which grants, and which {@code gate} gave it; if not, what
 *     was {@code looked_for}, and the {@code gates} that did not open. A gate has the proofs of {@code all_of} and of
 *     {@code but_not}, and that of an {@code all of N from R} the grants of R, its {@code parents}. A node with
 *     {@code repeated} stands in full elsewhere. A proof takes at most 256 KiB: a node or a gate with {@code cut}
 *     lacks what did not fit. Null if absent.
 */
public record CheckResult(
    boolean authorized,
    Instant checkedAt,
    List<Grant> because,
    DenialReason reason,
    Map<String, Object> proof) {
    /**
     * Copies lists and maps.
     *
     * @param authorized as in the record
     * @param checkedAt as in the record
     * @param because as in the record
     * @param reason as in the record
     * @param proof as in the record
     */
    public CheckResult {
        because = Fields.copy(because);
        proof = Fields.copy(proof);
    }

    static CheckResult decode(Object value) {
        Fields fields = Fields.of(value);
        return new CheckResult(
            fields.required("authorized", Fields::bool),
            fields.required("checked_at", Fields::time),
            fields.optional("because", Fields.list(Grant::decode)),
            fields.optional("reason", DenialReason::decode),
            fields.optional("proof", Fields::map));
    }
}
