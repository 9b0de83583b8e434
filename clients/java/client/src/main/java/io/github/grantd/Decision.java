// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

/**
 * A decision.
 *
 * @param decision Whether the access is permitted.
 * @param context Only of a denial that rests on no grants. Null if absent.
 */
public record Decision(boolean decision, DenialContext context) {
    static Decision decode(Object value) {
        Fields fields = Fields.of(value);
        return new Decision(
            fields.required("decision", Fields::bool),
            fields.optional("context", DenialContext::decode));
    }
}
