// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.List;
import java.util.Map;

/**
 * On objects of the namespace, a subject with one of {@code any_of} has {@code name}. One rule per name.
 *
 * @param namespace The part of subjects and objects before the first colon.
 * @param name A relation, built-in or own, whose own grants always count, or a name that is never granted.
 * @param anyOf The any of.
 */
public record Rule(String namespace, String name, List<RuleElement> anyOf) {
    /**
     * Copies lists and maps.
     *
     * @param namespace as in the record
     * @param name as in the record
     * @param anyOf as in the record
     */
    public Rule {
        anyOf = Fields.copy(anyOf, List.of());
    }

    static Rule decode(Object value) {
        Fields fields = Fields.of(value);
        return new Rule(
            fields.required("namespace", Fields::text),
            fields.required("name", Fields::text),
            fields.required("any_of", Fields.list(RuleElement::decode)));
    }

    Map<String, Object> toJson() {
        return Json.object(
            "namespace", namespace,
            "name", name,
            "any_of", Json.list(anyOf, RuleElement::toJson));
    }
}
