// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * A response of the service.
 *
 * @param objects Ascending by the bytes of the object.
 * @param nextCursor The {@code cursor} of the next request; {@code null} at the end.
 */
public record ObjectList(List<String> objects, String nextCursor) {
    /**
     * Copies lists and maps.
     *
     * @param objects as in the record
     * @param nextCursor as in the record
     */
    public ObjectList {
        objects = Fields.copy(objects, List.of());
    }

    static ObjectList decode(Object value) {
        Fields fields = Fields.of(value);
        return new ObjectList(
            fields.required("objects", Fields.list(Fields::text)),
            fields.nullable("next_cursor", Fields::cursor));
    }
}
