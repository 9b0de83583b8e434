// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

/**
 * Only of a denial that rests on no grants.
 *
 * @param reason Why the action is denied whatever the grants are. Null if absent.
 * @param error What is wrong with this element. Null if absent.
 */
public record DenialContext(String reason, DenialContextError error) {
    static DenialContext decode(Object value) {
        Fields fields = Fields.of(value);
        return new DenialContext(
            fields.optional("reason", Fields::text),
            fields.optional("error", DenialContextError::decode));
    }
}
