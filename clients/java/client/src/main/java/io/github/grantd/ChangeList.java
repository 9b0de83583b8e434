// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * A response of the service.
 *
 * @param changes In the order in which they were decided.
 * @param nextCursor The {@code cursor} of the next request. Always there: more may come.
 */
public record ChangeList(List<Change> changes, String nextCursor) {
    /**
     * Copies lists and maps.
     *
     * @param changes as in the record
     * @param nextCursor as in the record
     */
    public ChangeList {
        changes = Fields.copy(changes, List.of());
    }

    static ChangeList decode(Object value) {
        Fields fields = Fields.of(value);
        return new ChangeList(
            fields.required("changes", Fields.list(Change::decode)),
            fields.required("next_cursor", Fields::cursor));
    }
}
