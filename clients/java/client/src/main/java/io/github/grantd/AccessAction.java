// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.Map;

/**
 * What the subject would do. Unknown fields are ignored.
 *
 * @param name A built-in relation, or a name that a rule of the tenant defines. Any other one is denied.
 * @param properties Ignored. Null if absent.
 */
public record AccessAction(String name, Map<String, Object> properties) {
    /**
     * Copies lists and maps.
     *
     * @param name as in the record
     * @param properties as in the record
     */
    public AccessAction {
        properties = Fields.copy(properties);
    }

    /**
     * With nothing but what is required.
     *
     * @param name as in the record
     * @return the record
     */
    public static AccessAction of(String name) {
        return new AccessAction(name, null);
    }

    /**
     * The same with another {@code properties}.
     *
     * @param properties as in the record
     * @return the new record
     */
    public AccessAction withProperties(Map<String, Object> properties) {
        return new AccessAction(name, properties);
    }

    Map<String, Object> toJson() {
        return Json.object(
            "name", name,
            "properties", properties);
    }
}
