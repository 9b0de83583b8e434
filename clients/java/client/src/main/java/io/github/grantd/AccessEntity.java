// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.Map;

/**
 * A subject or a resource: the identifier {@code type:id}. Unknown fields are ignored.
 *
 * @param type A namespace.
 * @param id Unique within its type: 1 to 256 Unicode code points without control characters or white space.
 * @param properties Ignored. Null if absent.
 */
public record AccessEntity(String type, String id, Map<String, Object> properties) {
    /**
     * Copies lists and maps.
     *
     * @param type as in the record
     * @param id as in the record
     * @param properties as in the record
     */
    public AccessEntity {
        properties = Fields.copy(properties);
    }

    /**
     * With nothing but what is required.
     *
     * @param type as in the record
     * @param id as in the record
     * @return the record
     */
    public static AccessEntity of(String type, String id) {
        return new AccessEntity(type, id, null);
    }

    /**
     * The same with another {@code properties}.
     *
     * @param properties as in the record
     * @return the new record
     */
    public AccessEntity withProperties(Map<String, Object> properties) {
        return new AccessEntity(type, id, properties);
    }

    Map<String, Object> toJson() {
        return Json.object(
            "type", type,
            "id", id,
            "properties", properties);
    }
}
