// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * A response of the service.
 *
 * @param keys The keys.
 * @param nextCursor The {@code cursor} of the next request; {@code null} at the end.
 */
public record KeyList(List<Key> keys, String nextCursor) {
    /**
     * Copies lists and maps.
     *
     * @param keys as in the record
     * @param nextCursor as in the record
     */
    public KeyList {
        keys = Fields.copy(keys, List.of());
    }

    static KeyList decode(Object value) {
        Fields fields = Fields.of(value);
        return new KeyList(
            fields.required("keys", Fields.list(Key::decode)),
            fields.nullable("next_cursor", Fields::cursor));
    }
}
