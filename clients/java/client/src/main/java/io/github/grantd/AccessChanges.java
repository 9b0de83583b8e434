// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * Who would lose and gain names of the present rules, each subject compared at one moment.
 *
 * @param lost What is lost.
 * @param gained What is gained.
 * @param unknownBecause Why it is not known who else loses or gains access: {@code everyone} (each subject of a
 *     public namespace may), {@code undecided} (conditions need a context), {@code bounds} (more than one call
 *     compares) or {@code failed} (the grants changed meanwhile). Empty: these are all.
 */
public record AccessChanges(AccessSide lost, AccessSide gained, List<String> unknownBecause) {
    /**
     * Copies lists and maps.
     *
     * @param lost as in the record
     * @param gained as in the record
     * @param unknownBecause as in the record
     */
    public AccessChanges {
        unknownBecause = Fields.copy(unknownBecause, List.of());
    }

    static AccessChanges decode(Object value) {
        Fields fields = Fields.of(value);
        return new AccessChanges(
            fields.required("lost", AccessSide::decode),
            fields.required("gained", AccessSide::decode),
            fields.required("unknown_because", Fields.list(Fields::text)));
    }
}
