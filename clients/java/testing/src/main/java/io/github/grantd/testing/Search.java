// Evaluates grants under rules: a search from the name on the object, back to the subjects that hold it.

package io.github.grantd.testing;

import io.github.grantd.Tuple;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

record Search(RuleBook rules, Map<Tuple, StoredGrant> grants) {
    /** A fact from which the wanted one follows: through the grant, if any, and then through the next step. */
    private record Step(RuleBook.Fact fact, StoredGrant grant, Step next) {}

    /** Visits every fact from which the wanted one follows, those with the fewest grants in between first. */
    private void visit(RuleBook.Fact wanted, Predicate<Step> isEnd) {
        Set<RuleBook.Fact> seen = new HashSet<>();
        List<StoredGrant> sorted = grants.values().stream().sorted(StoredGrant.ORDER).toList();
        List<Step> now = new ArrayList<>(List.of(new Step(wanted, null, null)));
        while (!now.isEmpty()) {
            List<Step> later = new ArrayList<>();
            for (int i = 0; i < now.size(); i++) {
                Step at = now.get(i);
                if (!seen.add(at.fact())) continue;
                if (isEnd.test(at)) return;
                follow(at, sorted, now, later);
            }
            now = later;
        }
    }

    private void follow(Step at, List<StoredGrant> sorted, List<Step> now, List<Step> later) {
        String object = at.fact().object();
        for (RuleBook.Rule rule : rules.rules()) {
            boolean applies = rule.name().equals(at.fact().name()) && rule.namespace().equals(Values.namespaceOf(object));
            if (!applies) continue;
            for (RuleBook.Element element : rule.anyOf()) {
                if (element.from() == null) now.add(new Step(new RuleBook.Fact(element.name(), object), null, at));
                else followGrants(at, element, sorted, later);
            }
        }
        for (StoredGrant grant : sorted) {
            RuleBook.Fact group = rules.groupOf(grant.tuple().subject());
            if (group != null && isOn(grant, at.fact().name(), object)) later.add(new Step(group, grant, at));
        }
    }

    private void followGrants(Step at, RuleBook.Element element, List<StoredGrant> sorted, List<Step> later) {
        for (StoredGrant grant : sorted) {
            String subject = grant.tuple().subject();
            if (!isOn(grant, element.from(), at.fact().object())) continue;
            if (rules.groupOf(subject) != null || rules.isWildcard(subject)) continue;
            later.add(new Step(new RuleBook.Fact(element.name(), subject), grant, at));
        }
    }

    private static boolean isOn(StoredGrant grant, String relation, String object) {
        return grant.tuple().relation().equals(relation) && grant.tuple().object().equals(object);
    }

    /** A shortest chain of grants, from the subject to the object; null if there is none. */
    List<StoredGrant> chain(String subject, String name, String object) {
        RuleBook.Fact own = rules.groupOf(subject);
        String wildcard = Values.namespaceOf(subject) + ":*";
        List<List<StoredGrant>> found = new ArrayList<>();
        visit(new RuleBook.Fact(name, object), at -> {
            StoredGrant first = grants.get(new Tuple(subject, at.fact().name(), at.fact().object()));
            if (first == null && own == null && rules.isWildcard(wildcard)) {
                first = grants.get(new Tuple(wildcard, at.fact().name(), at.fact().object()));
            }
            if (first == null && !at.fact().equals(own)) return false;
            found.add(chainOf(at.fact().equals(own) ? null : first, at));
            return true;
        });
        return found.isEmpty() ? null : found.get(0);
    }

    private static List<StoredGrant> chainOf(StoredGrant first, Step last) {
        List<StoredGrant> chain = new ArrayList<>();
        if (first != null) chain.add(first);
        for (Step at = last; at != null; at = at.next()) if (at.grant() != null) chain.add(at.grant());
        return chain;
    }

    boolean holds(String subject, String name, String object) {
        return chain(subject, name, object) != null;
    }

    /** Ascending. Groups of the object itself only with `hasSelf`. */
    List<String> subjects(String name, String object, boolean isDirect, boolean hasSelf) {
        Set<String> found = new TreeSet<>(Values.ORDER);
        visit(new RuleBook.Fact(name, object), at -> {
            RuleBook.Fact fact = at.fact();
            if (rules.groups() && !isDirect && (hasSelf || !fact.object().equals(object))) {
                found.add(fact.object() + "#" + fact.name());
            }
            for (StoredGrant grant : grants.values()) {
                if (isOn(grant, fact.name(), fact.object())) found.add(grant.tuple().subject());
            }
            return isDirect;
        });
        return List.copyOf(found);
    }

    /** Ascending. */
    List<String> objects(String subject, String name, boolean isDirect) {
        Set<String> candidates = new TreeSet<>(Values.ORDER);
        RuleBook.Fact own = rules.groupOf(subject);
        if (own != null && !isDirect) candidates.add(own.object());
        for (Tuple tuple : grants.keySet()) candidates.add(tuple.object());
        return candidates.stream()
            .filter(object -> isDirect
                ? grants.containsKey(new Tuple(subject, name, object))
                : holds(subject, name, object))
            .toList();
    }
}
