// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * The same names on the same objects.
 *
 * @param subjects The first subjects.
 * @param subjectCount How many subjects there are.
 * @param names Names that they lose, or gain.
 * @param objects The first objects.
 * @param objectCount How many objects there are.
 */
public record AccessRow(
    List<String> subjects,
    long subjectCount,
    List<String> names,
    List<String> objects,
    long objectCount) {
    /**
     * Copies lists and maps.
     *
     * @param subjects as in the record
     * @param subjectCount as in the record
     * @param names as in the record
     * @param objects as in the record
     * @param objectCount as in the record
     */
    public AccessRow {
        subjects = Fields.copy(subjects, List.of());
        names = Fields.copy(names, List.of());
        objects = Fields.copy(objects, List.of());
    }

    static AccessRow decode(Object value) {
        Fields fields = Fields.of(value);
        return new AccessRow(
            fields.required("subjects", Fields.list(Fields::text)),
            fields.required("subject_count", Fields::integer),
            fields.required("names", Fields.list(Fields::text)),
            fields.required("objects", Fields.list(Fields::text)),
            fields.required("object_count", Fields::integer));
    }
}
