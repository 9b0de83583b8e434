// What the contract of the clients does not have: what is of Java alone.

package io.github.grantd;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.grantd.internal.Json;
import io.github.grantd.testing.GrantdService;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClientTest {
    private final TestTenant tenant = new TestTenant();

    private static Object parse(String text) throws Json.MalformedException {
        return Json.parse(text.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", " ", "tru", "nul", "{", "[", "[1,]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "{\"a\":1,\"a\":2}", "\"", "\"\n\"",
        "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "01", "-", "1.", ".5", "1e", "+1", "NaN", "1 2", "\"\\u\uff11\uff11\uff11\uff11\"",
    })
    void whatIsNotJsonIsRefused(String text) {
        assertThrows(Json.MalformedException.class, () -> parse(text));
    }

    @Test
    void depthIsBounded() {
        assertThrows(Json.MalformedException.class, () -> parse("[".repeat(100_000)));
        assertThrows(Json.MalformedException.class, () -> Json.parse(new byte[] {'"', (byte) 0xff, '"'}));
    }

    @Test
    void jsonIsReadAndWritten() throws Json.MalformedException {
        String text = "{\"a\":[1,-2.5,true,null,\"\\\"\\\\ü\\u0001\"],\"b\":{}}";
        assertArrayEquals(text.getBytes(StandardCharsets.UTF_8), Json.write(parse(text)));
        assertEquals("\ud83d\ude00/", parse("\"\\ud83d\\ude00\\/\""));
        assertThrows(IllegalArgumentException.class, () -> Json.write(Double.NaN));
        assertThrows(IllegalArgumentException.class, () -> Json.write("\ud800"));
        assertThrows(IllegalArgumentException.class, () -> Json.write(new Object()));
    }

    @Test
    void noTextShowsAKey() {
        CreatedKey key = tenant.client().createKey(KeyRequest.of(List.of("check:read")));
        assertFalse(key.toString().contains(key.key()));
        assertTrue(key.toString().contains(key.keyId()));
        Grantd client = tenant.builder().key(key.key()).build();
        assertFalse(client.toString().contains(key.key()));
        assertThrows(GrantdException.Forbidden.class, client::readRules);
        IllegalArgumentException wrong =
            assertThrows(IllegalArgumentException.class, () -> Grantd.builder().url("gk1_secret").key("k").build());
        assertFalse(wrong.getMessage().contains("gk1_secret"));
    }

    @Test
    void checksOfOneMomentAreGathered() {
        tenant.client().createGrant("user:7", "viewer", "document:plan");
        List<String> operations = Collections.synchronizedList(new ArrayList<>());
        Grantd client = tenant.builder()
            .hook(call -> {
                operations.add(call.operation());
                return null;
            })
            .build();
        List<CompletableFuture<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < 250; i++) all.add(client.checkAsync("user:" + i, "viewer", "document:plan"));
        for (int i = 0; i < 250; i++) assertEquals(i == 7, all.get(i).join());
        assertTrue(operations.size() < 250, operations::toString);
        assertTrue(operations.contains("checkBulk"));
    }

    @Test
    void anErrorOfOneGatheredCheckIsItsOwn() {
        List<Question> questions = new ArrayList<>();
        for (int i = 0; i < 20; i++) questions.add(new Question(i % 3 == 0 ? "wrong" : "user:a", "viewer", "document:a"));
        List<CheckAnswer> answers = tenant.client().checkEach(questions);
        for (int i = 0; i < 20; i++) assertEquals(i % 3 == 0, answers.get(i).error().isPresent());
        assertThrows(GrantdException.InvalidRequest.class, answers.get(0)::authorized);
    }

    @Test
    void anInterruptEndsACall() throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        AtomicReference<Boolean> isInterrupted = new AtomicReference<>();
        CountDownLatch begun = new CountDownLatch(1);
        Grantd client = tenant.client();
        Thread caller = new Thread(() -> {
            begun.countDown();
            try {
                client.listChangesPage(ChangesQuery.since("now"), null, Duration.ofSeconds(30));
            } catch (GrantdException e) {
                thrown.set(e);
                isInterrupted.set(Thread.currentThread().isInterrupted());
            }
        });
        caller.start();
        begun.await();
        caller.interrupt();
        caller.join();
        assertTrue(thrown.get() instanceof GrantdException.Cancelled);
        assertTrue(isInterrupted.get());
    }

    @Test
    void aFeedIsClosedFromAnotherThread() throws InterruptedException {
        ChangeFeed feed = tenant.client().changes(ChangesQuery.fromStart());
        tenant.client().createNamespace("document");
        CountDownLatch read = new CountDownLatch(1);
        List<String> actions = new ArrayList<>();
        Thread reader = new Thread(() -> {
            while (feed.hasNext()) {
                actions.add(feed.next().change().action());
                read.countDown();
            }
        });
        reader.start();
        read.await();
        feed.close();
        reader.join();
        assertEquals(List.of("namespace.created"), actions);
        assertFalse(feed.hasNext());
    }

    @Test
    void whatAHookThrowsFailsTheCall() {
        Grantd client = tenant.builder()
            .hook(call -> {
                throw new IllegalStateException("broken");
            })
            .build();
        assertThrows(IllegalStateException.class, () -> client.check("user:a", "viewer", "document:a"));
        assertThrows(IllegalStateException.class, client::listNamespaces);
        Grantd late = tenant.builder().hook(call -> outcome -> {
            throw new IllegalStateException("broken");
        }).build();
        assertThrows(IllegalStateException.class, late::listNamespaces);
    }

    @Test
    void aHookAddsHeadersButReplacesNone() {
        Grantd client = tenant.builder()
            .hook(call -> {
                call.header("Authorization", "Bearer other");
                return null;
            })
            .build();
        assertThrows(IllegalArgumentException.class, client::listNamespaces);
    }

    @Test
    void aGuardFailsClosed() {
        List<GrantdException> errors = new ArrayList<>();
        Grantd client = tenant.builder().maxRetries(0).build();
        client.createGrant("user:ada", "viewer", "document:plan");
        Guard guard = new Guard(client, errors::add);
        assertEquals(Guard.Verdict.ALLOWED, guard.decide("user:ada", "viewer", "document:plan"));
        assertEquals(Guard.Verdict.FORBIDDEN, guard.decide("user:bob", "viewer", "document:plan"));
        assertEquals(Guard.Verdict.UNAUTHENTICATED, guard.decide(null, "viewer", "document:plan"));
        assertEquals(Guard.Verdict.NOT_FOUND, guard.decide("user:ada", "viewer", ""));
        assertEquals(Guard.Verdict.NOT_FOUND, guard.decide("user:ada", "viewer", "document"));
        assertEquals(Guard.Verdict.FORBIDDEN, guard.decide("ada", "viewer", "document:plan"));
        assertEquals(Guard.Verdict.FORBIDDEN, guard.decide("user:\ud800", "viewer", "document:plan"));
        assertEquals(Guard.Verdict.NOT_FOUND, guard.decide("user:ada", "viewer", "document:\ud800"));
        assertEquals(Guard.Verdict.UNAVAILABLE, guard.decide("user:ada", "viewer\ud800", "document:plan"));
        Grantd refused = tenant.builder().maxRetries(0).httpClient(new RecordingHttpClient()).build();
        Guard without = new Guard(refused, errors::add);
        assertEquals(Guard.Verdict.UNAVAILABLE, without.decide("user:ada", "viewer", "document:plan"));
        List<String> types = List.of(
            "invalid-object", "invalid-subject", "invalid-request", "invalid-request", "invalid-request", "invalid-response");
        assertEquals(types, errors.stream().map(GrantdException::type).toList());
    }

    @Test
    void rulesAreReadChangedAndWritten() {
        Grantd client = tenant.client();
        Rule rule = new Rule("document", "can_read", RuleElement.names("viewer", "viewer from parent"));
        Rules first = client.writeRules(RuleSetRequest.of(List.of(rule)).withGroups(true));
        assertEquals(List.of(rule), first.ruleSet().rules());
        assertTrue(client.readRulesUnless(first.revision()).isEmpty());
        Rules second = client.writeRules(first.toRequest().withGroups(false), first.revision());
        assertFalse(second.ruleSet().groups());
        assertThrows(
            GrantdException.PreconditionFailed.class,
            () -> client.writeRules(first.toRequest(), first.revision()));
    }

    @Test
    void theServiceForTestsEndsWithItsInputAndSaysWhyItDoesNotStart() {
        String program = "echo '{\"url\":\"http://127.0.0.1:1\"}'; cat";
        GrantdService service = GrantdService.start(List.of("sh", "-c", program));
        assertEquals("http://127.0.0.1:1", service.url());
        service.close();
        service.close();
        for (List<String> command : List.of(List.of("no-such-program"), List.of("false"))) {
            assertThrows(IllegalStateException.class, () -> GrantdService.start(command));
        }
    }

    @Test
    void whatTheCallerGivesIsNotKept() {
        List<String> scopes = new ArrayList<>(List.of("admin"));
        KeyRequest request = KeyRequest.of(scopes);
        scopes.clear();
        assertEquals(List.of("admin"), request.scopes());
        assertThrows(UnsupportedOperationException.class, () -> request.scopes().add("check:read"));
        assertThrows(UnsupportedOperationException.class, () -> CallContext.of(Map.of("a", 1)).values().put("b", 2));
    }
}
