// The AuthZEN evaluations and searches.

package io.github.grantd.testing;

import io.github.grantd.internal.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;

final class Evaluations extends Operations {
    private static final Map<String, String> WRONG_PARTS = Map.of(
        "subject", "invalid-subject", "action", "invalid-relation", "resource", "invalid-object");

    Evaluations(Tenant tenant, FakeRequest request, StoredKey caller) {
        super(tenant, request, caller);
    }

    private static String entity(Map<String, Object> from, String name) {
        Map<String, Object> entity = Requests.object(from.get(name));
        boolean isWhole = entity.get("type") instanceof String type && Requests.NAMESPACE.matcher(type).matches()
            && entity.get("id") instanceof String id && !id.isEmpty();
        if (isWhole) return entity.get("type") + ":" + entity.get("id");
        throw new Problem(WRONG_PARTS.get(name), '"' + name + "\" must have a type and an id");
    }

    private static String action(Map<String, Object> from) {
        if (Requests.object(from.get("action")).get("name") instanceof String name) return name;
        throw new Problem(WRONG_PARTS.get("action"), "\"action\" must have a name");
    }

    private boolean isName(String name) {
        return RuleBook.RELATIONS.contains(name) || tenant.rules.defines(name);
    }

    private boolean decide(Map<String, Object> from) {
        String subject = entity(from, "subject");
        String name = action(from);
        String resource = entity(from, "resource");
        Pattern identifier = Requests.IDENTIFIER;
        return isName(name) && identifier.matcher(subject).matches() && identifier.matcher(resource).matches()
            && tenant.search().holds(subject, name, resource);
    }

    Object evaluate() {
        return Map.of("decision", decide(body()));
    }

    Object evaluateMany() {
        List<Map<String, Object>> evaluations = Requests.list(body(), "evaluations");
        if (evaluations.isEmpty()) return evaluate();
        if (evaluations.size() > Requests.BULK_MAX) throw new Problem("bulk-too-large", "There are too many evaluations.");
        Object semantic = Requests.object(body().get("options")).get("evaluations_semantic");
        List<Object> decisions = new ArrayList<>();
        for (Map<String, Object> one : evaluations) {
            Map<String, Object> parts = new HashMap<>(body());
            parts.putAll(one);
            boolean isHeld = false;
            try {
                isHeld = decide(parts);
                decisions.add(Map.of("decision", isHeld));
            } catch (Problem e) {
                Map<String, Object> error = Map.of("status", e.status(), "message", e.getMessage());
                decisions.add(Map.of("decision", false, "context", Map.of("error", error)));
            }
            if (("deny_on_first_deny".equals(semantic) && !isHeld) || ("permit_on_first_permit".equals(semantic) && isHeld)) {
                break;
            }
        }
        return Map.of("evaluations", decisions);
    }

    private String wantedType(String name) {
        if (Requests.object(body().get(name)).get("type") instanceof String type) return type;
        throw new Problem(WRONG_PARTS.get(name), '"' + name + "\" must have a type");
    }

    private Object found(String query, List<String> all, Function<String, ?> shown) {
        Map<String, Object> page = Requests.object(body().get("page"));
        int limit = page.get("limit") instanceof Long given
            ? (int) Math.max(1, Math.min(given, Requests.LIMIT_MAX))
            : Requests.LIMIT_MAX;
        Requests.Page<String> cut =
            Requests.page(query, all, Function.identity(), limit, (String) page.get("token"));
        String next = cut.next() == null ? "" : cut.next();
        return Map.of(
            "page", Map.of("next_token", next, "count", cut.items().size()),
            "results", cut.items().stream().map(shown).toList());
    }

    private Object entities(String what, String type, List<String> all, String of, String name) {
        List<String> items = isName(name)
            ? all.stream().filter(each -> Values.namespaceOf(each).equals(type)).toList()
            : List.of();
        String query = List.of(what, type, of, name).toString();
        return found(query, items, each -> Map.of("type", type, "id", each.substring(type.length() + 1)));
    }

    Object searchSubjects() {
        String resource = entity(body(), "resource");
        String type = wantedType("subject");
        String name = action(body());
        return entities("subjects", type, tenant.search().subjects(name, resource, false, false), resource, name);
    }

    Object searchResources() {
        String subject = entity(body(), "subject");
        String type = wantedType("resource");
        String name = action(body());
        return entities("resources", type, tenant.search().objects(subject, name, false), subject, name);
    }

    Object searchActions() {
        String subject = entity(body(), "subject");
        String resource = entity(body(), "resource");
        TreeSet<String> names = new TreeSet<>(Values.ORDER);
        for (RuleBook.Rule rule : tenant.rules.rules()) {
            boolean isDerived = !RuleBook.RELATIONS.contains(rule.name());
            if (isDerived && rule.namespace().equals(Values.namespaceOf(resource))) names.add(rule.name());
        }
        if (names.isEmpty()) names.addAll(RuleBook.RELATIONS);
        List<String> held = names.stream().filter(name -> tenant.search().holds(subject, name, resource)).toList();
        return found(List.of("actions", subject, resource).toString(), held, name -> Json.object("name", name));
    }
}
