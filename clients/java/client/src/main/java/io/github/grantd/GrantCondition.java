// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.Map;

/**
 * The grant holds only where this condition is met. Absent: it has none.
 *
 * @param name The name of a condition that the rules of the tenant declare.
 * @param context Values for parameters of the condition, at most 512 bytes as compact JSON. They take precedence over
 *     those that a call sends. For an int or uint, numbers beyond 2^53 are written as strings of digits.
 */
public record GrantCondition(String name, Map<String, Object> context) {
    /**
     * Copies lists and maps.
     *
     * @param name as in the record
     * @param context as in the record
     */
    public GrantCondition {
        context = Fields.copy(context);
    }

    static GrantCondition decode(Object value) {
        Fields fields = Fields.of(value);
        return new GrantCondition(
            fields.required("name", Fields::text),
            fields.required("context", Fields::map));
    }
}
