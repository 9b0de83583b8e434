// The rules of the tenant, without gates and conditions, which the fake does not have.

package io.github.grantd.testing;

import io.github.grantd.internal.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

record RuleBook(List<Rule> rules, boolean groups, List<String> publicNamespaces) {
    static final RuleBook EMPTY = new RuleBook(List.of(), false, List.of());
    static final List<String> RELATIONS =
        List.of("owner", "admin", "manager", "editor", "commenter", "viewer", "member", "guest", "parent");
    private static final Pattern GROUP = Pattern.compile("([^:]*:.+)#([A-Za-z][A-Za-z0-9_.-]{0,63})");

    record Rule(String namespace, String name, List<Element> anyOf) {}

    /** A name on the same object, or on those that have a relation on it: `from` is null without one. */
    record Element(String name, String from) {
        static Element of(String text) {
            int at = text.indexOf(" from ");
            return at < 0 ? new Element(text, null) : new Element(text.substring(0, at), text.substring(at + 6));
        }

        String text() {
            return from == null ? name : name + " from " + from;
        }
    }

    /** A name on an object. */
    record Fact(String name, String object) {}

    boolean defines(String name) {
        return rules.stream().anyMatch(rule -> rule.name().equals(name));
    }

    /** Null if the subject is no group. */
    Fact groupOf(String subject) {
        Matcher parts = GROUP.matcher(subject);
        return groups && parts.matches() ? new Fact(parts.group(2), parts.group(1)) : null;
    }

    boolean isWildcard(String subject) {
        String namespace = Values.namespaceOf(subject);
        return subject.equals(namespace + ":*") && publicNamespaces.contains(namespace);
    }

    Map<String, Object> toJson() {
        List<Object> listed = new ArrayList<>();
        for (Rule rule : rules) listed.add(json(rule));
        return Json.object("rules", listed, "groups", groups, "public", publicNamespaces);
    }

    private static Map<String, Object> json(Rule rule) {
        List<String> anyOf = rule.anyOf().stream().map(Element::text).toList();
        return Json.object("namespace", rule.namespace(), "name", rule.name(), "any_of", anyOf);
    }

    String revision() {
        return Values.digest(Json.write(toJson()));
    }

    /** What of these rules the others lack: rules and settings. */
    long lackedBy(RuleBook others) {
        long lacked = rules.stream().filter(rule -> !others.rules.contains(rule)).count();
        lacked += publicNamespaces.stream().filter(namespace -> !others.publicNamespaces.contains(namespace)).count();
        return groups == others.groups ? lacked : lacked + 1;
    }
}
