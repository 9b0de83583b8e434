// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.List;
import java.util.Map;

/**
 * Either {@code any_of} or {@code all_of}, and perhaps {@code but_not}. At most 5 lie inside of each other.
 *
 * @param anyOf At least one of these holds. Empty if absent.
 * @param allOf Each of these holds. Empty if absent.
 * @param butNot None of these holds. Empty if absent.
 */
public record RuleGate(List<RuleElement> anyOf, List<RuleElement> allOf, List<RuleElement> butNot) {
    /**
     * Copies lists and maps.
     *
     * @param anyOf as in the record
     * @param allOf as in the record
     * @param butNot as in the record
     */
    public RuleGate {
        anyOf = Fields.copy(anyOf, List.of());
        allOf = Fields.copy(allOf, List.of());
        butNot = Fields.copy(butNot, List.of());
    }

    /**
     * With nothing but what is required.
     *
     * @return the record
     */
    public static RuleGate of() {
        return new RuleGate(null, null, null);
    }

    /**
     * The same with another {@code anyOf}.
     *
     * @param anyOf as in the record
     * @return the new record
     */
    public RuleGate withAnyOf(List<RuleElement> anyOf) {
        return new RuleGate(anyOf, allOf, butNot);
    }

    /**
     * The same with another {@code allOf}.
     *
     * @param allOf as in the record
     * @return the new record
     */
    public RuleGate withAllOf(List<RuleElement> allOf) {
        return new RuleGate(anyOf, allOf, butNot);
    }

    /**
     * The same with another {@code butNot}.
     *
     * @param butNot as in the record
     * @return the new record
     */
    public RuleGate withButNot(List<RuleElement> butNot) {
        return new RuleGate(anyOf, allOf, butNot);
    }

    static RuleGate decode(Object value) {
        Fields fields = Fields.of(value);
        return new RuleGate(
            fields.optional("any_of", Fields.list(RuleElement::decode)),
            fields.optional("all_of", Fields.list(RuleElement::decode)),
            fields.optional("but_not", Fields.list(RuleElement::decode)));
    }

    Map<String, Object> toJson() {
        return Json.object(
            "any_of", Json.listUnlessEmpty(anyOf, RuleElement::toJson),
            "all_of", Json.listUnlessEmpty(allOf, RuleElement::toJson),
            "but_not", Json.listUnlessEmpty(butNot, RuleElement::toJson));
    }
}
