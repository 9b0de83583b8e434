// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * A response of the service.
 *
 * @param grants Ascending by the bytes of the relation, then of the object (or subject).
 * @param nextCursor The {@code cursor} of the next request; {@code null} at the end.
 */
public record GrantList(List<Grant> grants, String nextCursor) {
    /**
     * Copies lists and maps.
     *
     * @param grants as in the record
     * @param nextCursor as in the record
     */
    public GrantList {
        grants = Fields.copy(grants, List.of());
    }

    static GrantList decode(Object value) {
        Fields fields = Fields.of(value);
        return new GrantList(
            fields.required("grants", Fields.list(Grant::decode)),
            fields.nullable("next_cursor", Fields::cursor));
    }
}
