// The operations of the API on the tenant: one request, whose caller is known and may make it.

package io.github.grantd.testing;

import io.github.grantd.Tuple;
import io.github.grantd.internal.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

class Operations {
    final Tenant tenant;
    final FakeRequest request;
    final StoredKey caller;
    /** Of the response. */
    int status = 200;
    final Map<String, String> headers = new HashMap<>();

    Operations(Tenant tenant, FakeRequest request, StoredKey caller) {
        this.tenant = tenant;
        this.request = request;
        this.caller = caller;
    }

    Tenant.Write write() {
        return tenant.new Write(caller.id(), request.id());
    }

    Map<String, Object> body() {
        return request.body();
    }

    /** The grants, and those that the body brings along. Its values have no effect: the fake knows no conditions. */
    private Search withSent() {
        List<Map<String, Object>> sent = Requests.list(body(), "context_grants");
        if (sent.size() > Requests.BULK_MAX) throw new Problem("bulk-too-large", "There are too many context grants.");
        if (body().containsKey("context") && !(body().get("context") instanceof Map<?, ?>)) {
            throw Problem.invalidRequest("\"context\" must be an object");
        }
        if (sent.isEmpty()) return tenant.search();
        Map<Tuple, StoredGrant> grants = new HashMap<>(tenant.grants);
        for (int i = 0; i < sent.size(); i++) {
            Tuple tuple = Requests.tuple(sent.get(i), Requests.element("context_grants", i));
            grants.putIfAbsent(tuple, new StoredGrant(null, tuple, tenant.now(), null));
        }
        return new Search(tenant.rules, grants);
    }

    Object check() {
        Tuple question = Requests.question(body(), "", tenant.rules);
        List<StoredGrant> chain = withSent().chain(question.subject(), question.relation(), question.object());
        Map<String, Object> result = Json.object(
            "authorized", chain != null, "checked_at", Values.timeText(tenant.now()));
        if (chain != null && Boolean.TRUE.equals(body().get("explain"))) {
            result.put("because", chain.stream().filter(grant -> grant.id() != null).map(StoredGrant::toJson).toList());
        }
        return result;
    }

    Object checkBulk() {
        List<Map<String, Object>> checks = Requests.list(body(), "checks");
        if (!body().containsKey("checks")) throw Problem.invalidRequest("\"checks\" is missing");
        if (checks.size() > Requests.BULK_MAX) throw new Problem("bulk-too-large", "There are too many checks.");
        Search search = withSent();
        List<Object> results = new ArrayList<>();
        for (Map<String, Object> one : checks) {
            Tuple question = Requests.question(one, Requests.element("checks", results.size()), tenant.rules);
            boolean isHeld = search.holds(question.subject(), question.relation(), question.object());
            results.add(Map.of("authorized", isHeld));
        }
        return Json.object("results", results, "checked_at", Values.timeText(tenant.now()));
    }

    Object createGrant() {
        Requests.WantedGrant wanted = Requests.wanted(body(), "", tenant.now());
        if (!tenant.grants.containsKey(wanted.tuple())) status = 201;
        Tenant.Write write = write();
        StoredGrant stored = write.grant(wanted);
        write.commit();
        return stored.toJson();
    }

    Object revokeGrant() {
        Map<String, Object> from = request.hasBody() ? body() : request.query("subject", "relation", "object");
        Tenant.Write write = write();
        if (!write.revoke(Requests.tuple(from, ""))) throw new Problem("grant-not-found", "There is no such grant.");
        write.commit();
        status = 204;
        return null;
    }

    private void checkConditions(List<Map<String, Object>> conditions) {
        for (int i = 0; i < conditions.size(); i++) {
            String place = Requests.element("if", i);
            if (!(conditions.get(i).get("exists") instanceof Boolean exists)) {
                throw Problem.invalidRequest('"' + place + "exists\" must be a boolean");
            }
            if (tenant.grants.containsKey(Requests.tuple(conditions.get(i), place)) != exists) {
                throw new Problem("precondition-failed", '"' + place + "\" is not met.");
            }
        }
    }

    Object writeBulk() {
        List<Map<String, Object>> wanted = Requests.list(body(), "grants");
        List<Map<String, Object>> removed = Requests.list(body(), "revocations");
        List<Map<String, Object>> conditions = Requests.list(body(), "if");
        int count = wanted.size() + removed.size();
        if (count > Requests.BULK_MAX || conditions.size() > Requests.BULK_MAX) {
            throw new Problem("bulk-too-large", "There are too many changes or conditions.");
        }
        if (count == 0) throw Problem.invalidRequest("There is nothing to change.");
        Set<Tuple> seen = new HashSet<>();
        List<Requests.WantedGrant> grants = new ArrayList<>();
        for (int i = 0; i < wanted.size(); i++) {
            grants.add(Requests.wanted(wanted.get(i), Requests.element("grants", i), tenant.now()));
            if (!seen.add(grants.get(i).tuple())) throw second("grants", i);
        }
        List<Tuple> revocations = new ArrayList<>();
        for (int i = 0; i < removed.size(); i++) {
            revocations.add(Requests.tuple(removed.get(i), Requests.element("revocations", i)));
            if (!seen.add(revocations.get(i))) throw second("revocations", i);
        }
        checkConditions(conditions);
        Tenant.Write write = write();
        List<Object> written = new ArrayList<>();
        for (Requests.WantedGrant each : grants) {
            boolean isNew = !tenant.grants.containsKey(each.tuple());
            Map<String, Object> stored = write.grant(each).toJson();
            stored.put("created", isNew);
            written.add(stored);
        }
        List<Object> revoked = new ArrayList<>();
        for (Tuple each : revocations) revoked.add(Map.of("revoked", write.revoke(each)));
        write.commit();
        return Json.object("grants", written, "revocations", revoked);
    }

    private static Problem second(String list, int index) {
        return Problem.invalidRequest('"' + Requests.element(list, index) + "\" names a tuple a second time.");
    }

    /** The grants of a subject, or on an object, and perhaps of one relation. */
    private List<StoredGrant> matching(Map<String, Object> from) {
        if (from.containsKey("subject") == from.containsKey("object")) {
            throw Problem.invalidRequest("Exactly one of \"subject\" and \"object\" must be given.");
        }
        boolean isBySubject = from.containsKey("subject");
        String wanted = Requests.identifier(from, isBySubject ? "subject" : "object", "");
        String relation = from.containsKey("relation") ? Requests.relation(from, "") : null;
        return tenant.grants.values().stream()
            .filter(grant -> wanted.equals(isBySubject ? grant.tuple().subject() : grant.tuple().object()))
            .filter(grant -> relation == null || relation.equals(grant.tuple().relation()))
            .sorted(StoredGrant.ORDER)
            .toList();
    }

    Object revokeGrants() {
        Tenant.Write write = write();
        List<StoredGrant> found = matching(body());
        for (StoredGrant grant : found) write.revoke(grant.tuple());
        write.commit();
        return Json.object("revoked", found.size(), "complete", true);
    }

    /** A page of a listing whose query is that of the request. */
    <T> Map<String, Object> page(
        String name, String what, List<T> items, Function<T, String> sortKey, Function<T, ?> shown,
        Map<String, Object> query) {
        int limit = Requests.limit(query.get("limit"));
        Requests.Page<T> page = Requests.page(name, items, sortKey, limit, (String) query.get("cursor"));
        Map<String, Object> result = new HashMap<>();
        result.put(what, page.items().stream().map(shown).toList());
        result.put("next_cursor", page.next());
        return result;
    }

    private static String queryName(String what, Map<String, Object> query, String... names) {
        List<Object> parts = new ArrayList<>(List.of(what));
        for (String name : names) parts.add(query.get(name));
        return parts.toString();
    }

    Object listGrants() {
        Map<String, Object> query = request.query("subject", "object", "relation", "limit", "cursor");
        String name = queryName("grants", query, "subject", "object", "relation");
        headers.put("X-Service-Cursor", Feed.cursorAt(tenant.changes.size()));
        return page(name, "grants", matching(query), StoredGrant::sortKey, StoredGrant::toJson, query);
    }

    /** From the query, or the same members of a body. */
    private Map<String, Object> listingQuery(String... names) {
        if (!request.hasBody()) return request.query(names);
        Map<String, Object> members = new HashMap<>(body());
        members.remove("context");
        members.remove("context_grants");
        return members;
    }

    private Object identifiers(String what, String of, Map<String, Object> query, List<String> all) {
        String name = queryName(what, query, of, "relation", "namespace", "via", "include");
        Object namespace = query.get("namespace");
        List<String> items = all.stream()
            .filter(each -> namespace == null || namespace.equals(Values.namespaceOf(each)))
            .toList();
        return page(name, what, items, Function.identity(), Function.identity(), query);
    }

    Object listObjects() {
        Map<String, Object> query = listingQuery("subject", "relation", "namespace", "via", "limit", "cursor");
        String subject = Requests.identifier(query, "subject", "");
        String name = Requests.name(query, "", tenant.rules);
        boolean isDirect = "direct".equals(query.get("via"));
        return identifiers("objects", "subject", query, withSent().objects(subject, name, isDirect));
    }

    Object listSubjects() {
        Map<String, Object> query = listingQuery("object", "relation", "namespace", "via", "include", "limit", "cursor");
        String object = Requests.identifier(query, "object", "");
        String name = Requests.name(query, "", tenant.rules);
        boolean isDirect = "direct".equals(query.get("via"));
        boolean hasSelf = "self".equals(query.get("include"));
        return identifiers("subjects", "object", query, withSent().subjects(name, object, isDirect, hasSelf));
    }

    Object listChanges() {
        String[] names = {"cursor", "since", "namespace", "relation", "action", "limit", "wait"};
        return new Feed(tenant, request.query(names));
    }
}
