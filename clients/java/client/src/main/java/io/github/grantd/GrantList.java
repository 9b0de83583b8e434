// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * A response of the service.
 *
 * @param grants Ascending by the bytes of the relation, then of the object (or subject). With {@code on}: of the
 *     subject first.
 * @param nextCursor The {@code cursor} of the next request; {@code null} at the end.
 * @param seq Only with {@code on}: no grant of the page is as a later entry of the log made it. Null if absent.
 */
public record GrantList(List<Grant> grants, String nextCursor, Long seq) {
    /**
     * Copies lists and maps.
     *
     * @param grants as in the record
     * @param nextCursor as in the record
     * @param seq as in the record
     */
    public GrantList {
        grants = Fields.copy(grants, List.of());
    }

    static GrantList decode(Object value) {
        Fields fields = Fields.of(value);
        return new GrantList(
            fields.required("grants", Fields.list(Grant::decode)),
            fields.nullable("next_cursor", Fields::cursor),
            fields.optional("seq", Fields::integer));
    }
}
