// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.time.Instant;

/**
 * A version of the rules: who changed them, and when.
 *
 * @param version Its number: 1 for the first change of the rules, without gaps.
 * @param revision The revision of its rules. Versions with the same rules have the same one.
 * @param at When it was decided. ISO 8601 in UTC with milliseconds.
 * @param actor The id of a key, or {@code operator:} and a name.
 * @param requestId The request that wrote it.
 * @param added How many rules, conditions, types and settings are new, or differ from the version before.
 * @param removed How many of those of the version before are gone, or differ.
 */
public record RulesVersion(
    long version,
    String revision,
    Instant at,
    String actor,
    String requestId,
    long added,
    long removed) {
    static RulesVersion decode(Object value) {
        Fields fields = Fields.of(value);
        return new RulesVersion(
            fields.required("version", Fields::integer),
            fields.required("revision", Fields::text),
            fields.required("at", Fields::time),
            fields.required("actor", Fields::text),
            fields.required("request_id", Fields::text),
            fields.required("added", Fields::integer),
            fields.required("removed", Fields::integer));
    }
}
