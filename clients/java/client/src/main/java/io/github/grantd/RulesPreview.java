// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * A response of the service.
 *
 * @param ruleSet The rules as they would stand.
 * @param revision The revision that they would have.
 * @param currentRevision The revision of the present rules.
 * @param changed Whether the two revisions differ.
 * @param groupSubjects Subjects {@code ns:id#name} with a grant, whose grants become, or cease to be, ones to a
 *     group. 0 if {@code groups} stays as it is.
 * @param publicGrants Grants to {@code ns:*} that become, or cease to be, public: those of the namespaces that {@code
 *     public} gains or loses.
 * @param grantsNotFollowed Grants that the rules could never follow: to a group without {@code groups}, or of a name
 *     that nobody can hold; to {@code ns:*} where {@code ns} is not public; to a group or {@code ns:*} where rules
 *     only follow the relation to entities, as {@code parent} in {@code viewer from parent}.
 * @param grantsOutsideTypes Grants that the types of the rules do not allow: they stay, and count, but can only be
 *     revoked.
 * @param ungranted Relations on which rules rely (as an element, or after {@code from}), but of which no object of
 *     the namespace has a grant.
 * @param vanishing Names that the present rules define, and these do not: a check of one would be refused. Those that
 *     were asked about most recently come first.
 * @param access Who would lose and gain names of the present rules, each subject compared at one moment.
 * @param complete Whether all grants that matter to the counts were examined. If not, the counts are lower bounds,
 *     and a relation in {@code ungranted} may have grants.
 * @param scannedGrants How many grants were examined; one that is examined for two of the counts counts twice.
 * @param scannedGrantsMax How many are examined at most; fewer if the store is slow.
 */
public record RulesPreview(
    RuleSet ruleSet,
    String revision,
    String currentRevision,
    boolean changed,
    long groupSubjects,
    long publicGrants,
    long grantsNotFollowed,
    long grantsOutsideTypes,
    List<NamespaceRelation> ungranted,
    List<VanishingName> vanishing,
    AccessChanges access,
    boolean complete,
    long scannedGrants,
    long scannedGrantsMax) {
    /**
     * Copies lists and maps.
     *
     * @param ruleSet as in the record
     * @param revision as in the record
     * @param currentRevision as in the record
     * @param changed as in the record
     * @param groupSubjects as in the record
     * @param publicGrants as in the record
     * @param grantsNotFollowed as in the record
     * @param grantsOutsideTypes as in the record
     * @param ungranted as in the record
     * @param vanishing as in the record
     * @param access as in the record
     * @param complete as in the record
     * @param scannedGrants as in the record
     * @param scannedGrantsMax as in the record
     */
    public RulesPreview {
        ungranted = Fields.copy(ungranted, List.of());
        vanishing = Fields.copy(vanishing, List.of());
    }

    static RulesPreview decode(Object value) {
        Fields fields = Fields.of(value);
        return new RulesPreview(
            fields.required("rule_set", RuleSet::decode),
            fields.required("revision", Fields::text),
            fields.required("current_revision", Fields::text),
            fields.required("changed", Fields::bool),
            fields.required("group_subjects", Fields::integer),
            fields.required("public_grants", Fields::integer),
            fields.required("grants_not_followed", Fields::integer),
            fields.required("grants_outside_types", Fields::integer),
            fields.required("ungranted", Fields.list(NamespaceRelation::decode)),
            fields.required("vanishing", Fields.list(VanishingName::decode)),
            fields.required("access", AccessChanges::decode),
            fields.required("complete", Fields::bool),
            fields.required("scanned_grants", Fields::integer),
            fields.required("scanned_grants_max", Fields::integer));
    }
}
