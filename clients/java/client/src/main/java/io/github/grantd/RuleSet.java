// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * A response of the service.
 *
 * @param relations Relations of the tenant, which are granted like the built-in ones. Default: none. Empty if absent.
 * @param states States of objects. A state is granted with the subject {@code *}, and holds for every subject of
 *     every namespace. No rule has its name, and it stands in no {@code types} and not behind {@code from}. Default:
 *     none. Empty if absent.
 * @param conditions Conditions that grants may carry. Default: none. Empty if absent.
 * @param types A relation of a namespace that is not named here may be granted to any subject. Default: none. Empty
 *     if absent.
 * @param rules The rules.
 * @param groups The groups.
 * @param publicNamespaces The public.
 */
public record RuleSet(
    List<String> relations,
    List<String> states,
    List<ConditionDeclaration> conditions,
    List<TypeRestriction> types,
    List<Rule> rules,
    boolean groups,
    List<String> publicNamespaces) {
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
     */
    public RuleSet {
        relations = Fields.copy(relations, List.of());
        states = Fields.copy(states, List.of());
        conditions = Fields.copy(conditions, List.of());
        types = Fields.copy(types, List.of());
        rules = Fields.copy(rules, List.of());
        publicNamespaces = Fields.copy(publicNamespaces, List.of());
    }

    static RuleSet decode(Object value) {
        Fields fields = Fields.of(value);
        return new RuleSet(
            fields.optional("relations", Fields.list(Fields::text)),
            fields.optional("states", Fields.list(Fields::text)),
            fields.optional("conditions", Fields.list(ConditionDeclaration::decode)),
            fields.optional("types", Fields.list(TypeRestriction::decode)),
            fields.required("rules", Fields.list(Rule::decode)),
            fields.required("groups", Fields::bool),
            fields.required("public", Fields.list(Fields::text)));
    }
}
