// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * A response of the service.
 *
 * @param changes In the order in which they were decided.
 * @param nextCursor The {@code cursor} of the next request. Always there: more may come.
 * @param seq An entry of the log: every change of it and of all earlier ones that passes the filter has been sent, on
 *     this page or before. No entry is half sent: if a page ends within one, this is the one before. At the end of
 *     the feed, the last entry of the log.
 */
public record ChangeList(List<Change> changes, String nextCursor, long seq) {
    /**
     * Copies lists and maps.
     *
     * @param changes as in the record
     * @param nextCursor as in the record
     * @param seq as in the record
     */
    public ChangeList {
        changes = Fields.copy(changes, List.of());
    }

    static ChangeList decode(Object value) {
        Fields fields = Fields.of(value);
        return new ChangeList(
            fields.required("changes", Fields.list(Change::decode)),
            fields.required("next_cursor", Fields::cursor),
            fields.required("seq", Fields::integer));
    }
}
