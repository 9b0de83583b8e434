// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.Map;

/**
 * A condition under which a grant holds.
 *
 * @param name The name of a condition that the rules of the tenant declare.
 * @param context Values for parameters of the condition, at most 512 bytes as compact JSON. They take precedence over
 *     those that a call sends. For an int or uint, numbers beyond 2^53 are written as strings of digits. Null if
 *     absent.
 */
public record GrantConditionRequest(String name, Map<String, Object> context) {
    /**
     * Copies lists and maps.
     *
     * @param name as in the record
     * @param context as in the record
     */
    public GrantConditionRequest {
        context = Fields.copy(context);
    }

    /**
     * With nothing but what is required.
     *
     * @param name as in the record
     * @return the record
     */
    public static GrantConditionRequest of(String name) {
        return new GrantConditionRequest(name, null);
    }

    /**
     * The same with another {@code context}.
     *
     * @param context as in the record
     * @return the new record
     */
    public GrantConditionRequest withContext(Map<String, Object> context) {
        return new GrantConditionRequest(name, context);
    }

    Map<String, Object> toJson() {
        return Json.object(
            "name", name,
            "context", context);
    }
}
