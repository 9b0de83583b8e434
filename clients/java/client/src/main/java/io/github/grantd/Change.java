// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.time.Instant;

/**
 * A change of the grants, namespaces or rules of the tenant. Actions on grants have {@code grant}: as it is after the
 * change, or was before its end. {@code grant.updated} has {@code former_terms}: until when the grant was to hold
 * before, and on which condition. {@code namespace.created} has {@code namespace}. {@code rules.updated} has {@code
 * rules}, and {@code former}: the previous ones; both only for a key with the scope {@code admin}, which alone reads
 * rules.
 *
 * @param seq The position of the write in the log of the tenant’s slot.
 * @param index The number of the change at its position: ({@code seq}, {@code index}) identifies a change and orders
 *     them.
 * @param at When it was decided. ISO 8601 in UTC with milliseconds.
 * @param actor The id of a key, {@code operator:} and a name, or {@code system}.
 * @param requestId The request that caused it.
 * @param action Later versions may add actions.
 * @param grant A stored relationship, unique per (subject, relation, object). Null if absent.
 * @param namespace Only for {@code namespace.created}. Null if absent.
 * @param rules The rules. Null if absent.
 * @param former The former. Null if absent.
 * @param formerTerms Only for {@code grant.updated}: the terms that the grant had before. Absent from changes that
 *     version 0.2 recorded, which did not keep them. Null if absent.
 */
public record Change(
    long seq,
    long index,
    Instant at,
    String actor,
    String requestId,
    String action,
    Grant grant,
    ChangedNamespace namespace,
    RuleSet rules,
    RuleSet former,
    FormerTerms formerTerms) {
    static Change decode(Object value) {
        Fields fields = Fields.of(value);
        return new Change(
            fields.required("seq", Fields::integer),
            fields.required("index", Fields::integer),
            fields.required("at", Fields::time),
            fields.required("actor", Fields::text),
            fields.required("request_id", Fields::text),
            fields.required("action", Fields::text),
            fields.optional("grant", Grant::decode),
            fields.optional("namespace", ChangedNamespace::decode),
            fields.optional("rules", RuleSet::decode),
            fields.optional("former", RuleSet::decode),
            fields.optional("former_terms", FormerTerms::decode));
    }
}
