// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * A response of the service.
 *
 * @param subjects The subject, {@code ns:*} and {@code *} where their grants are also its own, and the groups in
 *     which it is.
 * @param held {@code container#name}: what it holds on containers, of what the join asks.
 * @param perhaps Sets of which a parameter is missing. In no other list.
 * @param own The {@code object#name} that the subject is itself. Empty: none.
 * @param tenantId The tenant. A mirror of its grants is joined with no other.
 * @param revision That of the rules. The join must have the same.
 * @param at The moment of which the answer is.
 * @param through A place in the log up to {@code at.seq}, after which nothing has changed that the join mirrors: a
 *     mirror that has it is complete for this answer.
 */
public record SubjectSets(
    List<String> subjects,
    List<String> held,
    List<String> perhaps,
    String own,
    String tenantId,
    String revision,
    LogMoment at,
    long through) {
    /**
     * Copies lists and maps.
     *
     * @param subjects as in the record
     * @param held as in the record
     * @param perhaps as in the record
     * @param own as in the record
     * @param tenantId as in the record
     * @param revision as in the record
     * @param at as in the record
     * @param through as in the record
     */
    public SubjectSets {
        subjects = Fields.copy(subjects, List.of());
        held = Fields.copy(held, List.of());
        perhaps = Fields.copy(perhaps, List.of());
    }

    static SubjectSets decode(Object value) {
        Fields fields = Fields.of(value);
        return new SubjectSets(
            fields.required("subjects", Fields.list(Fields::text)),
            fields.required("held", Fields.list(Fields::text)),
            fields.required("perhaps", Fields.list(Fields::text)),
            fields.required("own", Fields::text),
            fields.required("tenant_id", Fields::text),
            fields.required("revision", Fields::text),
            fields.required("at", LogMoment::decode),
            fields.required("through", Fields::integer));
    }
}
