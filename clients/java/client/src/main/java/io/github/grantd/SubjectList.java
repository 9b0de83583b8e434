// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * A response of the service.
 *
 * @param subjects Ascending by the bytes of the subject.
 * @param nextCursor The {@code cursor} of the next request; {@code null} at the end.
 * @param excluded Under rules with gates: subjects whom a gate excludes, although {@code ns:*} of their namespace, or
 *     {@code *}, holds the relation; {@code ns:*} among them stands for every subject of its namespace. They lie in
 *     the range of the page, and count against its limit. Absent: there are none in it. Empty if absent.
 */
public record SubjectList(List<String> subjects, String nextCursor, List<String> excluded) {
    /**
     * Copies lists and maps.
     *
     * @param subjects as in the record
     * @param nextCursor as in the record
     * @param excluded as in the record
     */
    public SubjectList {
        subjects = Fields.copy(subjects, List.of());
        excluded = Fields.copy(excluded, List.of());
    }

    static SubjectList decode(Object value) {
        Fields fields = Fields.of(value);
        return new SubjectList(
            fields.required("subjects", Fields.list(Fields::text)),
            fields.nullable("next_cursor", Fields::cursor),
            fields.optional("excluded", Fields.list(Fields::text)));
    }
}
