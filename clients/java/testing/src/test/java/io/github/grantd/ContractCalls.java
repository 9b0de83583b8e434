// The methods of this client for the calls of a case.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

record ContractCalls(Grantd client, Map<String, Object> args, boolean isPage, int take) {
    static Map<String, Object> value(Object value) throws ReflectiveOperationException {
        return Collections.singletonMap("value", Records.toJson(value));
    }

    private String text(String name) {
        return (String) args.get(name);
    }

    /** Of a list, or of a text with commas. */
    private List<String> texts(String name) {
        Object given = args.getOrDefault(name, List.of());
        if (given instanceof String text) return List.of(text.split(","));
        return ((List<?>) given).stream().map(String.class::cast).toList();
    }

    private CallContext with() throws ReflectiveOperationException {
        return new CallContext(
            args.get("context") == null ? null : Records.object(args.get("context")),
            Records.list(ContextGrant.class, args.get("context_grants")));
    }

    private <T> T query(Class<T> type) throws ReflectiveOperationException {
        Map<String, Object> members = new LinkedHashMap<>(args);
        members.remove("context");
        return Records.from(type, members);
    }

    private Object listed(Iterable<?> items) throws ReflectiveOperationException {
        return listed(items.iterator());
    }

    private Object listed(Iterator<?> items) throws ReflectiveOperationException {
        List<Object> found = new ArrayList<>();
        while ((take == 0 || found.size() < take) && items.hasNext()) found.add(Records.toJson(items.next()));
        return Map.of("items", found);
    }

    private static Map<String, Object> page(List<?> items, String cursor) throws ReflectiveOperationException {
        Map<String, Object> page = Json.object("items", Records.toJson(items));
        page.put("cursor", cursor);
        return Map.of("page", page);
    }

    Object perform(String call) throws ReflectiveOperationException {
        return switch (call) {
            case "check" -> check();
            case "checkBulk" -> checkBulk();
            case "createGrant" -> value(client.createGrant(grant(args)));
            case "revokeGrant" -> value(client.revokeGrant(text("subject"), text("relation"), text("object")));
            case "writeBulk" -> writeBulk();
            case "revokeGrants" -> value(client.revokeGrants(Records.from(GrantFilter.class, args)));
            case "listObjects" -> listObjects();
            case "listSubjects" -> listSubjects();
            case "listGrants" -> listGrants();
            case "snapshotGrants" -> snapshotGrants();
            case "listNamespaces" -> once(client.listNamespaces());
            case "createNamespace" -> value(client.createNamespace(text("name")));
            case "listKeys" -> listKeys();
            case "createKey" -> createKey();
            case "revokeKey" -> value(client.revokeKey(text("key_id")));
            case "readRules" -> value(
                Boolean.TRUE.equals(args.get("text")) ? client.readRulesText()
                    : args.get("unless_revision") == null
                    ? client.readRules()
                    : client.readRulesUnless(text("unless_revision")).orElse(null));
            case "listRulesVersions" -> once(client.listRulesVersions());
            case "readRulesVersion" -> value(
                Boolean.TRUE.equals(args.get("text"))
                    ? client.readRulesText((Long) args.get("version"))
                    : client.readRulesVersion((Long) args.get("version")));
            case "writeRules" -> writeRules();
            case "listChanges" -> listChanges();
            case "evaluate" -> value(client.evaluate(Records.from(EvaluationRequest.class, args)));
            case "evaluateMany" -> evaluateMany();
            case "searchSubjects" -> searchSubjects();
            case "searchResources" -> searchResources();
            case "searchActions" -> searchActions();
            case "readJoin" -> value(client.readJoin(text("namespace"), text("name"), texts("deep").toArray(String[]::new)));
            case "readSets" -> value(client.readSets(Records.from(SetsRequest.class, args)));
            case "readOpenapi" -> value(client.readOpenapi());
            default -> throw new IllegalArgumentException("there is no call " + call);
        };
    }

    private Object check() throws ReflectiveOperationException {
        String subject = text("subject");
        String relation = text("relation");
        String object = text("object");
        if (Boolean.TRUE.equals(args.get("explain"))) return value(client.explain(subject, relation, object, with()));
        if (args.containsKey("context") || args.containsKey("context_grants")) {
            return value(client.check(subject, relation, object, with()));
        }
        return value(client.check(subject, relation, object));
    }

    private Object checkBulk() throws ReflectiveOperationException {
        BulkCheckResult result = client.checkBulk(Records.list(Question.class, args.get("checks")), with());
        return value(result.results().stream().map(BulkCheckAnswer::authorized).toList());
    }

    private static GrantRequest grant(Map<String, Object> from) throws ReflectiveOperationException {
        GrantRequest request = GrantRequest.of(
            (String) from.get("subject"), (String) from.get("relation"), (String) from.get("object"));
        if (from.containsKey("expires_at")) {
            String at = (String) from.get("expires_at");
            request = at == null ? request.neverExpires() : request.expiresAt(Instant.parse(at));
        }
        if (!from.containsKey("condition")) return request;
        Object condition = from.get("condition");
        return condition == null
            ? request.unconditional()
            : request.onCondition(Records.from(GrantConditionRequest.class, condition));
    }

    private Object writeBulk() throws ReflectiveOperationException {
        List<GrantRequest> grants = new ArrayList<>();
        List<?> given = (List<?>) args.getOrDefault("grants", List.of());
        for (Object one : given) grants.add(grant(Records.object(one)));
        return value(client.writeBulk(new BulkWrite(
            grants, Records.list(Tuple.class, args.get("revocations")), Records.list(Condition.class, args.get("if")))));
    }

    private Object listObjects() throws ReflectiveOperationException {
        ObjectsQuery query = query(ObjectsQuery.class).withContext(with());
        if (!isPage) return listed(client.listObjects(query));
        ObjectList page = client.listObjectsPage(query);
        return page(page.objects(), page.nextCursor());
    }

    private Object listSubjects() throws ReflectiveOperationException {
        SubjectsQuery query = query(SubjectsQuery.class).withContext(with());
        if (!isPage) return listed(client.listSubjects(query));
        SubjectList page = client.listSubjectsPage(query);
        Map<String, Object> outcome = page(page.subjects(), page.nextCursor());
        if (!page.excluded().isEmpty()) Records.object(outcome.get("page")).put("excluded", page.excluded());
        return outcome;
    }

    private Object listGrants() throws ReflectiveOperationException {
        GrantsQuery query = query(GrantsQuery.class);
        if (!isPage) return listed(client.listGrants(query));
        GrantPage page = client.listGrantsPage(query);
        Map<String, Object> outcome = page(page.grants(), page.nextCursor());
        Records.object(outcome.get("page")).put("feed_cursor", page.feedCursor());
        return outcome;
    }

    private Object snapshotGrants() throws ReflectiveOperationException {
        SnapshotQuery query = query(SnapshotQuery.class);
        if (!isPage) return listed(client.snapshotGrants(query).stream().flatMap(page -> page.grants().stream()).iterator());
        SnapshotPage page = client.snapshotGrantsPage(query);
        Map<String, Object> outcome = page(page.grants(), page.nextCursor());
        Records.object(outcome.get("page")).putAll(Map.of("feed_cursor", page.feedCursor(), "seq", page.seq()));
        return outcome;
    }

    private Object once(List<?> items) throws ReflectiveOperationException {
        return isPage ? page(items, null) : listed(items);
    }

    private Object listKeys() throws ReflectiveOperationException {
        KeysQuery query = query(KeysQuery.class);
        if (!isPage) return listed(client.listKeys(query));
        KeyList page = client.listKeysPage(query);
        return page(page.keys(), page.nextCursor());
    }

    private Object createKey() throws ReflectiveOperationException {
        Instant expiresAt = args.get("expires_at") == null ? null : Instant.parse(text("expires_at"));
        return value(client.createKey(new KeyRequest(texts("scopes"), text("name"), expiresAt, text("idempotency_key"))));
    }

    private Object writeRules() throws ReflectiveOperationException {
        boolean isPreview = Boolean.TRUE.equals(args.get("dry_run"));
        if (args.get("rule_set") instanceof String text) {
            RulesOption[] options = "keep".equals(text("outside_types"))
                ? new RulesOption[] {RulesOption.KEEP_OUTSIDE_TYPES}
                : new RulesOption[0];
            return isPreview
                ? value(client.previewRules(text, text("revision"), options))
                : value(client.writeRules(text, text("revision"), options));
        }
        RuleSetRequest rules = Records.from(RuleSetRequest.class, args.get("rule_set"));
        if (isPreview) return value(client.previewRules(rules, text("revision")));
        return value(client.writeRules(rules, text("revision")));
    }

    private Object listChanges() throws ReflectiveOperationException {
        ChangesQuery query = new ChangesQuery(
            text("cursor"), text("since"), texts("namespace"), texts("relation"), texts("on"), texts("action"),
            "batch".equals(args.get("checkpoints")));
        if (isPage) {
            Integer limit = args.get("limit") == null ? null : ContractRunner.number(args.get("limit"));
            ChangeList page = client.listChangesPage(query, limit, Duration.ZERO);
            Map<String, Object> outcome = page(page.changes(), page.nextCursor());
            Records.object(outcome.get("page")).put("seq", page.seq());
            return outcome;
        }
        try (ChangeFeed feed = client.changes(query)) {
            return listed(feed);
        }
    }

    private Object evaluateMany() throws ReflectiveOperationException {
        return value(client.evaluateMany(new EvaluationsRequest(
            Records.from(PartialEvaluation.class, args),
            Records.list(PartialEvaluation.class, args.get("evaluations")),
            (String) Records.object(args.get("options")).get("evaluations_semantic"))));
    }

    private static Object searched(List<?> items, PageInfo info) throws ReflectiveOperationException {
        return page(items, info.nextToken().isEmpty() ? null : info.nextToken());
    }

    private Object searchSubjects() throws ReflectiveOperationException {
        SubjectSearch search = Records.from(SubjectSearch.class, args);
        if (!isPage) return listed(client.searchSubjects(search));
        EntitySearchResult page = client.searchSubjectsPage(search);
        return searched(page.results(), page.page());
    }

    private Object searchResources() throws ReflectiveOperationException {
        ResourceSearch search = Records.from(ResourceSearch.class, args);
        if (!isPage) return listed(client.searchResources(search));
        EntitySearchResult page = client.searchResourcesPage(search);
        return searched(page.results(), page.page());
    }

    private Object searchActions() throws ReflectiveOperationException {
        ActionSearch search = Records.from(ActionSearch.class, args);
        if (!isPage) return listed(client.searchActions(search));
        ActionSearchResult page = client.searchActionsPage(search);
        return searched(page.results(), page.page());
    }
}
