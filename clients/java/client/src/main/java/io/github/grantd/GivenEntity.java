// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.Map;

/**
 * A subject or resource that is given.
 *
 * @param type A namespace. For any other text there are no results.
 * @param id An external id. For any other text there are no results.
 * @param properties Ignored. Null if absent.
 */
public record GivenEntity(String type, String id, Map<String, Object> properties) {
    /**
     * Copies lists and maps.
     *
     * @param type as in the record
     * @param id as in the record
     * @param properties as in the record
     */
    public GivenEntity {
        properties = Fields.copy(properties);
    }

    /**
     * With nothing but what is required.
     *
     * @param type as in the record
     * @param id as in the record
     * @return the record
     */
    public static GivenEntity of(String type, String id) {
        return new GivenEntity(type, id, null);
    }

    /**
     * The same with another {@code properties}.
     *
     * @param properties as in the record
     * @return the new record
     */
    public GivenEntity withProperties(Map<String, Object> properties) {
        return new GivenEntity(type, id, properties);
    }

    Map<String, Object> toJson() {
        return Json.object(
            "type", type,
            "id", id,
            "properties", properties);
    }
}
