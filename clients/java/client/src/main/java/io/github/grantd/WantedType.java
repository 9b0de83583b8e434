// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.Map;

/**
 * What is searched for. An {@code id} is ignored.
 *
 * @param type The namespace of the identifier {@code type:id}.
 * @param properties Ignored. Null if absent.
 */
public record WantedType(String type, Map<String, Object> properties) {
    /**
     * Copies lists and maps.
     *
     * @param type as in the record
     * @param properties as in the record
     */
    public WantedType {
        properties = Fields.copy(properties);
    }

    /**
     * With nothing but what is required.
     *
     * @param type as in the record
     * @return the record
     */
    public static WantedType of(String type) {
        return new WantedType(type, null);
    }

    /**
     * The same with another {@code properties}.
     *
     * @param properties as in the record
     * @return the new record
     */
    public WantedType withProperties(Map<String, Object> properties) {
        return new WantedType(type, properties);
    }

    Map<String, Object> toJson() {
        return Json.object(
            "type", type,
            "properties", properties);
    }
}
