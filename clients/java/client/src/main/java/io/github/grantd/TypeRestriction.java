// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.List;
import java.util.Map;

/**
 * To which subjects the relation may be granted on objects of the namespace.
 *
 * @param namespace The part of subjects and objects before the first colon.
 * @param relation The relation.
 * @param subjects Each {@code NAMESPACE}, {@code NAMESPACE:*} or, for groups, {@code NAMESPACE#NAME}; with {@code
 *     with CONDITION} behind it, grants to them carry the condition, without, they carry none.
 */
public record TypeRestriction(String namespace, String relation, List<String> subjects) {
    /**
     * Copies lists and maps.
     *
     * @param namespace as in the record
     * @param relation as in the record
     * @param subjects as in the record
     */
    public TypeRestriction {
        subjects = Fields.copy(subjects, List.of());
    }

    static TypeRestriction decode(Object value) {
        Fields fields = Fields.of(value);
        return new TypeRestriction(
            fields.required("namespace", Fields::text),
            fields.required("relation", Fields::text),
            fields.required("subjects", Fields.list(Fields::text)));
    }

    Map<String, Object> toJson() {
        return Json.object(
            "namespace", namespace,
            "relation", relation,
            "subjects", Json.list(subjects));
    }
}
