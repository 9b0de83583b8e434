// What is sent is what the caller has given, or nothing.

package io.github.grantd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.grantd.internal.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OutgoingTest {
    /** Random texts for each call; the system property asks for more. */
    private static final int TEXTS = Integer.getInteger("grantd.randomTexts", 300);

    /** Calls with a text in one place each. Those of a header, and actions of the feed, cannot have every text. */
    private static final Map<String, BiConsumer<Grantd, String>> CALLS = new LinkedHashMap<>();

    private static void forTuples(String call, BiConsumer<Grantd, Tuple> send) {
        CALLS.put(call + " subject", (client, text) -> send.accept(client, new Tuple(text, "viewer", "document:a")));
        CALLS.put(call + " relation", (client, text) -> send.accept(client, new Tuple("user:a", text, "document:a")));
        CALLS.put(call + " object", (client, text) -> send.accept(client, new Tuple("user:a", "viewer", text)));
    }

    private static Map<String, Object> one(String name, Object value) {
        Map<String, Object> map = new HashMap<>();
        map.put(name, value);
        return map;
    }

    private static void forContexts(String call, BiConsumer<Grantd, CallContext> send) {
        Map<String, Function<String, CallContext>> contexts = Map.of(
            "value", text -> CallContext.of(one("a", text)),
            "name", text -> CallContext.of(one(text, 1)),
            "list", text -> CallContext.of(one("a", List.of(1, one("b", List.of(text))))),
            "nested name", text -> CallContext.of(one("a", List.of(one(text, true)))),
            "subject", text -> CallContext.of(List.of(ContextGrant.of(text, "viewer", "document:a"))),
            "relation", text -> CallContext.of(List.of(ContextGrant.of("user:a", text, "document:a"))),
            "object", text -> CallContext.of(List.of(ContextGrant.of("user:a", "viewer", text))));
        contexts.forEach((place, of) -> CALLS.put(
            call + " context " + place, (client, text) -> send.accept(client, of.apply(text))));
    }

    private static void read(Iterable<?> listing) {
        listing.iterator().hasNext();
    }

    static {
        forTuples("check", (client, of) -> client.check(of.subject(), of.relation(), of.object()));
        forTuples("explain", (client, of) -> client.explain(of.subject(), of.relation(), of.object()));
        forTuples("checkBulk", (client, of) -> client.checkBulk(
            List.of(new Question("user:a", "viewer", "document:a"), new Question(of.subject(), of.relation(), of.object()))));
        forTuples("checkEach", (client, of) ->
            client.checkEach(List.of(new Question(of.subject(), of.relation(), of.object()))).get(0).authorized());
        forTuples("createGrant", (client, of) -> client.createGrant(of.subject(), of.relation(), of.object()));
        forTuples("revokeGrant", (client, of) -> client.revokeGrant(of.subject(), of.relation(), of.object()));
        forTuples("writeBulk grants", (client, of) -> client.writeBulk(new BulkWrite(
            List.of(GrantRequest.of(of.subject(), of.relation(), of.object())), List.of(), List.of())));
        forTuples("writeBulk revocations", (client, of) ->
            client.writeBulk(new BulkWrite(List.of(), List.of(of), List.of())));
        forTuples("writeBulk if", (client, of) -> client.writeBulk(new BulkWrite(
            List.of(), List.of(), List.of(new Condition(of.subject(), of.relation(), of.object(), true)))));
        forContexts("check", (client, with) -> client.check("user:a", "viewer", "document:a", with));
        forContexts("checkBulk", (client, with) -> client.checkBulk(List.of(), with));
        forContexts("listObjects", (client, with) -> read(client.listObjects(ObjectsQuery.of("user:a", "b").withContext(with))));
        forContexts("listSubjects", (client, with) -> read(client.listSubjects(SubjectsQuery.of("a:b", "c").withContext(with))));
        for (CallContext with : List.of(CallContext.NONE, CallContext.of(one("a", 1)))) {
            String how = with == CallContext.NONE ? "" : " in context";
            CALLS.put("listObjects subject" + how, (client, text) -> read(client.listObjects(ObjectsQuery.of(text, "a").withContext(with))));
            CALLS.put("listObjects relation" + how, (client, text) -> read(client.listObjects(ObjectsQuery.of("a", text).withContext(with))));
            ObjectsQuery objects = ObjectsQuery.of("a", "b").withContext(with);
            CALLS.put("listObjects namespace" + how, (client, text) -> read(client.listObjects(objects.withNamespace(text))));
            CALLS.put("listObjects via" + how, (client, text) -> read(client.listObjects(objects.withVia(text))));
            CALLS.put("listObjects cursor" + how, (client, text) -> read(client.listObjects(objects.withCursor(text))));
            SubjectsQuery subjects = SubjectsQuery.of("a", "b").withContext(with);
            CALLS.put("listSubjects object" + how, (client, text) -> read(client.listSubjects(SubjectsQuery.of(text, "a").withContext(with))));
            CALLS.put("listSubjects include" + how, (client, text) -> read(client.listSubjects(subjects.withInclude(text))));
            CALLS.put("listSubjects cursor" + how, (client, text) -> read(client.listSubjects(subjects.withCursor(text))));
        }
        CALLS.put("condition name", (client, text) -> client.createGrant(
            GrantRequest.of("a", "b", "c").onCondition(GrantConditionRequest.of(text))));
        CALLS.put("condition context", (client, text) -> client.createGrant(
            GrantRequest.of("a", "b", "c").onCondition(new GrantConditionRequest("d", one("e", text)))));
        CALLS.put("listGrants subject", (client, text) -> read(client.listGrants(GrantsQuery.ofSubject(text))));
        CALLS.put("listGrants object", (client, text) -> read(client.listGrants(GrantsQuery.onObject(text))));
        CALLS.put("listGrants cursor", (client, text) -> read(client.listGrants(new GrantsQuery("a", null, null, 1, text))));
        CALLS.put("listGrants relation", (client, text) -> read(client.listGrants(new GrantsQuery("a", null, text, 1, null))));
        CALLS.put("revokeGrants subject", (client, text) -> client.revokeGrants(GrantFilter.ofSubject(text)));
        CALLS.put("revokeGrants relation", (client, text) -> client.revokeGrants(new GrantFilter(null, "a", text)));
        CALLS.put("createNamespace", Grantd::createNamespace);
        CALLS.put("listKeys", (client, text) -> read(client.listKeys(new KeysQuery(1, text))));
        CALLS.put("createKey name", (client, text) -> client.createKey(KeyRequest.of(List.of("admin")).withName(text)));
        CALLS.put("createKey scopes", (client, text) -> client.createKey(KeyRequest.of(List.of("admin", text))));
        CALLS.put("header idempotencyKey", (client, text) -> client.createKey(KeyRequest.of(List.of()).withIdempotencyKey(text)));
        CALLS.put("revokeKey", Grantd::revokeKey);
        CALLS.put("header If-None-Match", Grantd::readRulesUnless);
        CALLS.put("header If-Match", (client, text) -> client.writeRules(RuleSetRequest.of(List.of()), text));
        CALLS.put("rules as text", Grantd::writeRules);
        CALLS.put("rule name", (client, text) -> client.writeRules(
            RuleSetRequest.of(List.of(new Rule("a", text, RuleElement.names("b"))))));
        CALLS.put("rule element", (client, text) -> client.previewRules(
            RuleSetRequest.of(List.of(new Rule("a", "b", RuleElement.names("c", text)))), null));
        CALLS.put("rule gate", (client, text) -> client.writeRules(RuleSetRequest.of(List.of(new Rule(
            "a", "b", List.of(RuleElement.of(new RuleGate(List.of(), RuleElement.names(text), List.of()))))))));
        CALLS.put("changes cursor", (client, text) -> client.listChangesPage(ChangesQuery.after(text), 1, Duration.ZERO));
        CALLS.put("changes since", (client, text) -> client.listChangesPage(ChangesQuery.since(text), null, Duration.ZERO));
        CALLS.put("header namespace", (client, text) ->
            client.listChangesPage(ChangesQuery.fromStart().withNamespaces(List.of(text)), null, Duration.ZERO));
        CALLS.put("header relation", (client, text) ->
            client.listChangesPage(ChangesQuery.fromStart().withRelations(List.of(text)), null, Duration.ZERO));
        CALLS.put("header on", (client, text) -> client.snapshotGrantsPage(SnapshotQuery.of(List.of(text))));
        CALLS.put("sets subject", (client, text) -> client.readSets(SetsRequest.of(text, JoinQuery.of("a", "b"))));
        CALLS.put("header action", (client, text) ->
            client.listChangesPage(ChangesQuery.fromStart().withActions(List.of(text)), null, Duration.ZERO));
        AccessEntity entity = AccessEntity.of("a", "b");
        AccessAction action = AccessAction.of("c");
        CALLS.put("evaluate type", (client, text) -> client.evaluate(EvaluationRequest.of(AccessEntity.of(text, "a"), action, entity)));
        CALLS.put("evaluate id", (client, text) -> client.evaluate(EvaluationRequest.of(entity, action, AccessEntity.of("a", text))));
        CALLS.put("evaluate action", (client, text) -> client.evaluate(EvaluationRequest.of(entity, AccessAction.of(text), entity)));
        CALLS.put("evaluate properties", (client, text) -> client.evaluate(
            EvaluationRequest.of(entity.withProperties(one(text, text)), action, entity)));
        CALLS.put("evaluate context", (client, text) -> client.evaluate(new EvaluationRequest(entity, action, entity, one("a", List.of(text)))));
        CALLS.put("evaluateMany", (client, text) -> client.evaluateMany(
            EvaluationsRequest.of(new PartialEvaluation(AccessEntity.of("a", text), null, null, null), List.of())));
        CALLS.put("evaluateMany context", (client, text) -> client.evaluateMany(
            EvaluationsRequest.of(PartialEvaluation.of(), List.of(new PartialEvaluation(entity, action, entity, one(text, 1))))));
        CALLS.put("searchSubjects", (client, text) -> read(client.searchSubjects(
            SubjectSearch.of(null, AccessAction.of("a"), GivenEntity.of("b", text)))));
        CALLS.put("searchResources", (client, text) -> read(client.searchResources(
            ResourceSearch.of(GivenEntity.of(text, "a"), AccessAction.of("b"), null))));
        CALLS.put("searchActions token", (client, text) -> read(client.searchActions(
            new ActionSearch(GivenEntity.of("a", "b"), GivenEntity.of("c", "d"), null, new SearchPage(text, null, null)))));
    }

    static Stream<String> calls() {
        return CALLS.keySet().stream();
    }

    private static String randomText(Random random) {
        StringBuilder text = new StringBuilder("a");
        for (int i = random.nextInt(8); i >= 0; i--) {
            switch (random.nextInt(10)) {
                case 0 -> text.append((char) (0xd800 + random.nextInt(0x800)));
                case 1 -> text.append((char) random.nextInt(0x10000));
                case 2 -> text.appendCodePoint(0x1f600 + random.nextInt(50));
                case 3 -> text.append(List.of("\ufffd", "?", "\\ud800", "\"", "\\", "%ff", "+", "\0", "\r\n", "\u2028").get(random.nextInt(10)));
                default -> text.append("abcxyz:#-/.&= ".charAt(random.nextInt(14)));
            }
        }
        return text.toString();
    }

    /** By the encoder of the JDK, which is not what the client uses. */
    private static boolean isText(String text) {
        return java.nio.charset.StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }

    @ParameterizedTest
    @MethodSource("calls")
    void everyTextArrivesAsItIsOrNothingIsSent(String call) {
        Random random = new Random(1);
        RecordingHttpClient http = new RecordingHttpClient();
        Grantd client = Grantd.builder().url("http://grantd.test").key("gk1_k").maxRetries(0).httpClient(http).build();
        int sent = 0;
        int refused = 0;
        for (int i = 0; i < TEXTS; i++) {
            String text = randomText(random);
            http.texts.clear();
            GrantdException error = assertThrows(GrantdException.class, () -> CALLS.get(call).accept(client, text));
            if (http.texts.contains(text)) {
                sent++;
                continue;
            }
            assertTrue(http.texts.isEmpty(), () -> text + " came as " + http.texts);
            assertEquals("invalid-request 400", error.type() + " " + error.status());
            assertTrue(call.startsWith("header") || !isText(text), () -> text + ": " + error.getMessage());
            refused++;
        }
        assertTrue(sent > 0 && refused > 0, sent + " were sent, and " + refused + " refused");
    }

    @Test
    void whatJsonHasNotIsRefusedWithItsPlace() {
        RecordingHttpClient http = new RecordingHttpClient();
        Grantd client = Grantd.builder().url("http://grantd.test").key("gk1_k").httpClient(http).build();
        Map<String, Object> cycle = new HashMap<>();
        cycle.put("b", List.of(cycle, cycle));
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("\"context.a\" is NaN", Double.NaN);
        values.put("\"context.a[1].b\" is Infinity", List.of(1, Map.of("b", Float.POSITIVE_INFINITY)));
        values.put("\"context.a\" is java.util.concurrent.atomic.DoubleAdder", new DoubleAdder());
        values.put("\"context.a\" is [Ljava.lang.String;", new String[] {"b"});
        values.put("\"context.a\" is java.lang.Character", 'b');
        values.put("\"context.a\" is java.util.Optional", java.util.Optional.of("b"));
        values.put("\"context.a[0]\" has a name that is not a string", List.of(Map.of(1, 2)));
        values.put("\"context.a[0][1]\" has half of a surrogate pair", List.of(List.of("", "\udc00\ud800")));
        values.put("is nested too deeply", cycle);
        values.forEach((words, value) -> {
            GrantdException error = assertThrows(
                GrantdException.InvalidRequest.class,
                () -> client.check("user:a", "viewer", "document:a", CallContext.of(Map.of("a", value))));
            assertTrue(error.type().equals("invalid-request") && error.getMessage().contains(words), error::getMessage);
        });
        for (String action : new String[] {"", "grant.created,grant.revoked"}) {
            ChangesQuery query = ChangesQuery.fromStart().withActions(List.of(action));
            assertThrows(GrantdException.InvalidRequest.class, () -> client.listChangesPage(query, null, Duration.ZERO));
            assertThrows(GrantdException.InvalidRequest.class, () -> client.changes(query).hasNext());
        }
        assertEquals(List.of(), http.texts);
        assertThrows(IllegalArgumentException.class, () -> Grantd.builder().url("http://grantd.test/\ud800").key("k").build());
    }

    @Test
    void whatJsonHasIsSent() throws Json.MalformedException {
        List<Object> all = new ArrayList<>(List.of(
            "\ud83d\ude00\ufffd", 1, 2L, (short) 3, (byte) 4, 5.5, 6.5f, new java.math.BigDecimal("1E+3"),
            new java.math.BigInteger("9007199254740993"), new AtomicLong(7), true, Map.of()));
        all.add(null);
        assertEquals(
            "[\"\ud83d\ude00\ufffd\",1,2,3,4,5.5,6.5,1E+3,9007199254740993,7,true,{},null]",
            new String(Json.write(all), java.nio.charset.StandardCharsets.UTF_8));
        assertEquals(13, ((List<?>) Json.parse(Json.write(all))).size());
    }

    @Test
    void oneCheckThatCannotBeSentFailsAlone() {
        Grantd client = TestTenant.SERVICE.client();
        List<Question> questions = new ArrayList<>();
        for (int i = 0; i < 100; i++) questions.add(new Question(i % 2 == 1 ? "user:\ud800" : "user:a", "viewer", "document:a"));
        List<CheckAnswer> answers = client.checkEach(questions);
        for (int i = 0; i < 100; i++) assertEquals(i % 2 == 1, answers.get(i).error().isPresent());
        assertTrue(answers.get(1).error().get().detail().contains("\"subject\""));
        assertFalse(client.checkAsync("user:a", "viewer", "document:a").join());
        assertTrue(client.checkAsync("user:\ud800", "viewer", "document:a").isCompletedExceptionally());
    }
}
