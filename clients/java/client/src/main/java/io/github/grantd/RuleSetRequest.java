// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.List;
import java.util.Map;

/**
 * Unknown fields are refused.
 *
 * @param relations Relations of the tenant, which are granted like the built-in ones. Default: none. Empty if absent.
 * @param states States of objects. A state is granted with the subject {@code *}, and holds for every subject of
 *     every namespace. No rule has its name, and it stands in no {@code types} and not behind {@code from}. Default:
 *     none. Empty if absent.
 * @param conditions Conditions that grants may carry. Default: none. Empty if absent.
 * @param types A relation of a namespace that is not named here may be granted to any subject. Default: none. Empty
 *     if absent.
 * @param rules The rules.
 * @param groups Whether a grant to {@code ns:id#name} is one to all who have {@code name} on {@code ns:id}. Default:
 *     false. Null if absent.
 * @param publicNamespaces A grant to {@code ns:*} is one to every subject of these namespaces. Default: none. Empty
 *     if absent.
 * @param outsideTypes Only for this write, not part of the rules: stored grants that stricter {@code types} exclude
 *     stay, and count. Absent: the write is refused if there are such grants. Null if absent.
 */
public record RuleSetRequest(
    List<String> relations,
    List<String> states,
    List<ConditionDeclaration> conditions,
    List<TypeRestriction> types,
    List<Rule> rules,
    Boolean groups,
    List<String> publicNamespaces,
    String outsideTypes) {
    /**
     * Copies lists and maps.
     *
     * @param relations as in the record
     * @param states as in the record
     * @param conditions as in the record
     * @param types as in the record
     * @param rules as in the record
     * @param groups as in the record
     * @param publicNamespaces as in the record
     * @param outsideTypes as in the record
     */
    public RuleSetRequest {
        relations = Fields.copy(relations, List.of());
        states = Fields.copy(states, List.of());
        conditions = Fields.copy(conditions, List.of());
        types = Fields.copy(types, List.of());
        rules = Fields.copy(rules, List.of());
        publicNamespaces = Fields.copy(publicNamespaces, List.of());
    }

    /**
     * With nothing but what is required.
     *
     * @param rules as in the record
     * @return the record
     */
    public static RuleSetRequest of(List<Rule> rules) {
        return new RuleSetRequest(null, null, null, null, rules, null, null, null);
    }

    /**
     * The same with another {@code relations}.
     *
     * @param relations as in the record
     * @return the new record
     */
    public RuleSetRequest withRelations(List<String> relations) {
        return new RuleSetRequest(relations, states, conditions, types, rules, groups, publicNamespaces, outsideTypes);
    }

    /**
     * The same with another {@code states}.
     *
     * @param states as in the record
     * @return the new record
     */
    public RuleSetRequest withStates(List<String> states) {
        return new RuleSetRequest(relations, states, conditions, types, rules, groups, publicNamespaces, outsideTypes);
    }

    /**
     * The same with another {@code conditions}.
     *
     * @param conditions as in the record
     * @return the new record
     */
    public RuleSetRequest withConditions(List<ConditionDeclaration> conditions) {
        return new RuleSetRequest(relations, states, conditions, types, rules, groups, publicNamespaces, outsideTypes);
    }

    /**
     * The same with another {@code types}.
     *
     * @param types as in the record
     * @return the new record
     */
    public RuleSetRequest withTypes(List<TypeRestriction> types) {
        return new RuleSetRequest(relations, states, conditions, types, rules, groups, publicNamespaces, outsideTypes);
    }

    /**
     * The same with another {@code groups}.
     *
     * @param groups as in the record
     * @return the new record
     */
    public RuleSetRequest withGroups(Boolean groups) {
        return new RuleSetRequest(relations, states, conditions, types, rules, groups, publicNamespaces, outsideTypes);
    }

    /**
     * The same with another {@code publicNamespaces}.
     *
     * @param publicNamespaces as in the record
     * @return the new record
     */
    public RuleSetRequest withPublicNamespaces(List<String> publicNamespaces) {
        return new RuleSetRequest(relations, states, conditions, types, rules, groups, publicNamespaces, outsideTypes);
    }

    /**
     * The same with another {@code outsideTypes}.
     *
     * @param outsideTypes as in the record
     * @return the new record
     */
    public RuleSetRequest withOutsideTypes(String outsideTypes) {
        return new RuleSetRequest(relations, states, conditions, types, rules, groups, publicNamespaces, outsideTypes);
    }

    Map<String, Object> toJson() {
        return Json.object(
            "relations", Json.listUnlessEmpty(relations),
            "states", Json.listUnlessEmpty(states),
            "conditions", Json.listUnlessEmpty(conditions, ConditionDeclaration::toJson),
            "types", Json.listUnlessEmpty(types, TypeRestriction::toJson),
            "rules", Json.list(rules, Rule::toJson),
            "groups", groups,
            "public", Json.listUnlessEmpty(publicNamespaces),
            "outside_types", outsideTypes);
    }
}
