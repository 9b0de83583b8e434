// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * What is lost.
 *
 * @param subjects Subjects that lose, or gain, a name.
 * @param objects Objects on which they do.
 * @param rows Who loses, or gains, which names on which objects.
 * @param rowsLeft Rows that are left out.
 * @param byName Whether there is a row for each name, which its subjects lose, or gain, on some of its objects.
 */
public record AccessSide(long subjects, long objects, List<AccessRow> rows, long rowsLeft, boolean byName) {
    /**
     * Copies lists and maps.
     *
     * @param subjects as in the record
     * @param objects as in the record
     * @param rows as in the record
     * @param rowsLeft as in the record
     * @param byName as in the record
     */
    public AccessSide {
        rows = Fields.copy(rows, List.of());
    }

    static AccessSide decode(Object value) {
        Fields fields = Fields.of(value);
        return new AccessSide(
            fields.required("subjects", Fields::integer),
            fields.required("objects", Fields::integer),
            fields.required("rows", Fields.list(AccessRow::decode)),
            fields.required("rows_left", Fields::integer),
            fields.required("by_name", Fields::bool));
    }
}
