// Namespaces, keys and rules.

package io.github.grantd.testing;

import io.github.grantd.internal.Json;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

final class Administration extends Operations {
    static final List<String> SCOPES = List.of("check:read", "grant:write", "admin");

    Administration(Tenant tenant, FakeRequest request, StoredKey caller) {
        super(tenant, request, caller);
    }

    private Map<String, Object> namespace(String name) {
        return Json.object("name", name, "created_at", Values.timeText(tenant.namespaces.get(name)));
    }

    Object listNamespaces() {
        return Map.of("namespaces", tenant.namespaces.keySet().stream().map(this::namespace).toList());
    }

    Object createNamespace() {
        if (!(body().get("name") instanceof String name) || !Requests.NAMESPACE.matcher(name).matches()) {
            throw Problem.invalidRequest("\"name\" is no name of a namespace");
        }
        Tenant.Write write = write();
        if (write.namespace(name)) status = 201;
        write.commit();
        return namespace(name);
    }

    Object listKeys() {
        Map<String, Object> query = request.query("limit", "cursor");
        List<StoredKey> sorted = tenant.keys.stream()
            .sorted((a, b) -> a.id().compareTo(b.id()))
            .toList();
        return page("keys", "keys", sorted, StoredKey::id, key -> {
            Map<String, Object> members = key.toJson();
            members.put("last_used_at", null);
            return members;
        }, query);
    }

    Object createKey() {
        List<String> scopes = Requests.texts(body(), "scopes", SCOPES::contains);
        if (scopes.isEmpty()) throw Problem.invalidRequest("\"scopes\" must have an element");
        String name = body().get("name") instanceof String text ? text : "";
        Instant expiresAt = Requests.expiry(body(), "", tenant.now());
        String repeat = request.header("Idempotency-Key");
        Tenant.CreatedKey before = tenant.created.get(repeat);
        if (before != null && !before.body().equals(request.text())) {
            String detail = "An earlier request with this Idempotency-Key had another body.";
            throw new Problem("idempotency-key-reused", detail);
        }
        if (before != null) {
            String detail = "An earlier request has created a key.";
            throw new Problem("already-created", detail, Map.of("key_id", before.keyId()));
        }
        StoredKey added = tenant.addKey(name, scopes, expiresAt);
        if (repeat != null) tenant.created.put(repeat, new Tenant.CreatedKey(added.id(), request.text()));
        Map<String, Object> result = added.toJson();
        result.put("key", added.text());
        status = 201;
        return result;
    }

    Object revokeKey() {
        if (!tenant.keys.removeIf(key -> key.id().equals(request.lastSegment()))) {
            throw new Problem("key-not-found", "The tenant has no key with this id.");
        }
        status = 204;
        return null;
    }

    private Object shown(RuleBook rules) {
        headers.put("ETag", '"' + rules.revision() + '"');
        return rules.toJson();
    }

    Object readRules() {
        Object rules = shown(tenant.rules);
        if (!headers.get("ETag").equals(request.header("If-None-Match"))) return rules;
        status = 304;
        return null;
    }

    Object listRulesVersions() {
        List<Object> versions = new ArrayList<>();
        RuleBook before = RuleBook.EMPTY;
        for (Map<String, Object> change : tenant.changes) {
            if (!change.containsKey("rules")) continue;
            RuleBook rules = tenant.versions.get(versions.size());
            versions.add(Json.object(
                "version", versions.size() + 1, "revision", rules.revision(), "at", change.get("at"),
                "actor", change.get("actor"), "request_id", change.get("request_id"),
                "added", rules.lackedBy(before), "removed", before.lackedBy(rules)));
            before = rules;
        }
        Collections.reverse(versions);
        return Map.of("versions", versions);
    }

    Object readRulesVersion() {
        String text = request.lastSegment();
        int version = text.matches("\\d{1,9}") ? Integer.parseInt(text) : 0;
        if (version < 1 || version > tenant.versions.size()) {
            throw new Problem("rules-version-not-found", "The rules have no such version.");
        }
        return shown(tenant.versions.get(version - 1));
    }

    private RuleBook rulesOfBody() {
        if (!body().containsKey("rules")) throw Problem.invalidRequest("\"rules\" is missing");
        for (String unknown : List.of("relations", "conditions", "types")) {
            if (body().containsKey(unknown)) throw Problem.invalidRequest("The fake has no \"" + unknown + "\".");
        }
        List<RuleBook.Rule> rules = new ArrayList<>();
        for (Map<String, Object> one : Requests.list(body(), "rules")) {
            boolean isNamed = one.get("namespace") instanceof String namespace
                && Requests.NAMESPACE.matcher(namespace).matches()
                && one.get("name") instanceof String name
                && Requests.NAMESPACE.matcher(name).matches();
            if (!isNamed) throw Problem.invalidRequest("A rule has no namespace or no name.");
            List<String> anyOf = Requests.texts(one, "any_of", text -> Requests.ELEMENT.matcher(text).matches());
            List<RuleBook.Element> elements = anyOf.stream().map(RuleBook.Element::of).toList();
            rules.add(new RuleBook.Rule((String) one.get("namespace"), (String) one.get("name"), elements));
        }
        List<String> publicNamespaces = body().containsKey("public")
            ? Requests.texts(body(), "public", text -> Requests.NAMESPACE.matcher(text).matches())
            : List.of();
        RuleBook read = new RuleBook(rules, Boolean.TRUE.equals(body().get("groups")), publicNamespaces);
        for (RuleBook.Rule rule : rules) for (RuleBook.Element each : rule.anyOf()) requireKnown(read, each);
        return read;
    }

    private static void requireKnown(RuleBook rules, RuleBook.Element element) {
        if (!RuleBook.RELATIONS.contains(element.name()) && !rules.defines(element.name())) {
            throw Problem.invalidRequest("Nothing defines the name \"" + element.name() + "\".");
        }
        if (element.from() != null && !RuleBook.RELATIONS.contains(element.from())) {
            throw Problem.invalidRequest('"' + element.from() + "\" is no built-in relation.");
        }
    }

    Object writeRules() {
        RuleBook next = rulesOfBody();
        RuleBook before = tenant.rules;
        String wanted = request.header("If-Match");
        if (wanted != null && !wanted.equals("*") && !wanted.equals('"' + before.revision() + '"')) {
            throw new Problem("precondition-failed", "The present rules have another revision.");
        }
        if ("true".equals(request.query("dry_run").get("dry_run"))) return preview(next);
        Tenant.Write write = write();
        if (!next.revision().equals(before.revision())) write.rules(next);
        write.commit();
        return shown(next);
    }

    private Object preview(RuleBook next) {
        RuleBook before = tenant.rules;
        Set<String> groups = new HashSet<>();
        Set<List<String>> granted = new HashSet<>();
        int wildcards = 0;
        RuleBook withGroups = new RuleBook(List.of(), true, List.of());
        for (StoredGrant grant : tenant.grants.values()) {
            String subject = grant.tuple().subject();
            granted.add(List.of(Values.namespaceOf(grant.tuple().object()), grant.tuple().relation()));
            if (next.groups() != before.groups() && withGroups.groupOf(subject) != null) groups.add(subject);
            if (next.isWildcard(subject) != before.isWildcard(subject)) wildcards++;
        }
        List<Object> ungranted = new ArrayList<>();
        for (RuleBook.Rule rule : next.rules()) {
            for (RuleBook.Element element : rule.anyOf()) {
                String relation = element.from() == null ? element.name() : element.from();
                if (RuleBook.RELATIONS.contains(relation) && granted.add(List.of(rule.namespace(), relation))) {
                    ungranted.add(Map.of("namespace", rule.namespace(), "relation", relation));
                }
            }
        }
        return Json.object(
            "rule_set", next.toJson(), "revision", next.revision(), "current_revision", before.revision(),
            "changed", !next.revision().equals(before.revision()), "group_subjects", groups.size(),
            "public_grants", wildcards, "ungranted", ungranted, "complete", true,
            "scanned_grants", tenant.grants.size(), "scanned_grants_max", Requests.LIMIT_MAX,
            // The fake does not look for them.
            "grants_not_followed", 0, "grants_outside_types", 0);
    }
}
