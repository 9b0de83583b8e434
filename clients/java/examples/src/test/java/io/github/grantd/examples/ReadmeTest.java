// The code of the README, run as it stands there. A test of the repository compares the two.

package io.github.grantd.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.grantd.ChangeEvent;
import io.github.grantd.ChangeFeed;
import io.github.grantd.ChangesQuery;
import io.github.grantd.CheckAnswer;
import io.github.grantd.ErrorTypes;
import io.github.grantd.Grantd;
import io.github.grantd.GrantdException;
import io.github.grantd.Guard;
import io.github.grantd.Question;
import io.github.grantd.RulesPreview;
import io.github.grantd.SnapshotPage;
import io.github.grantd.SnapshotQuery;
import io.github.grantd.servlet.RequiresFilter;
import io.github.grantd.testing.GrantdService;
import io.opentelemetry.api.OpenTelemetry;
import jakarta.servlet.Filter;
import java.net.ProxySelector;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ReadmeTest {
    private final GrantdService service = GrantdService.start();

    @AfterEach
    void stop() {
        service.close();
    }

    @Test
    void hasRules() {
        Grantd grantd = service.client();
        String rules = """
            namespace document
              viewer: user, user:*
              can_read = viewer or owner
            """;
        RulesPreview preview = grantd.previewRules(rules, null);
        if (preview.changed()) grantd.writeRules(rules);
        System.out.println(grantd.readRulesText().revision().equals(preview.revision()));
        assertEquals(rules, grantd.readRulesText(1).text());
    }

    @Test
    void fails() {
        Grantd grantd = service.client();
        try {
            grantd.check("ada", "viewer", "document:plan");
        } catch (GrantdException.InvalidRequest error) {
            System.out.println(error.type().equals(ErrorTypes.INVALID_SUBJECT));
        } catch (GrantdException error) {
            System.out.println(error.type() + " " + error.status() + " " + error.isRetryable());
        }
        assertThrows(GrantdException.InvalidRequest.class, () -> grantd.check("ada", "viewer", "document:plan"));
    }

    @Test
    void hasSettings() {
        Grantd grantd = Grantd.builder()
            .url("https://grantd.example")
            .key("gk1_example")
            .timeout(Duration.ofSeconds(2))
            .maxRetries(3)
            .backoff(Duration.ofMillis(20), Duration.ofSeconds(1))
            .header("X-Team", "documents")
            .userAgent("documents/1.2")
            .build();
        Grantd patient = grantd.withTimeout(Duration.ofMinutes(1));
        assertEquals("Grantd[https://grantd.example]", patient.toString());
    }

    @Test
    void usesAProxy() {
        HttpClient http = HttpClient.newBuilder().proxy(ProxySelector.getDefault()).build();
        Grantd grantd = Grantd.builder().url("https://grantd.example").key("gk1_example").httpClient(http).build();
        assertEquals("Grantd[https://grantd.example]", grantd.toString());
    }

    @Test
    void gathers() {
        Grantd grantd = service.client();
        CompletableFuture<Boolean> views = grantd.checkAsync("user:bob", "viewer", "folder:a");
        CompletableFuture<Boolean> edits = grantd.checkAsync("user:bob", "editor", "folder:a");
        System.out.println(views.join() || edits.join());

        List<Question> questions = List.of(
            new Question("user:bob", "owner", "folder:a"),
            new Question("bob", "owner", "folder:b"));
        for (CheckAnswer answer : grantd.checkEach(questions)) {
            System.out.println(answer.error().isPresent() ? "unknown" : answer.authorized());
        }
        assertTrue(grantd.checkEach(questions).get(1).error().isPresent());
    }

    @Test
    void followsChanges() {
        Grantd grantd = service.client();
        grantd.createGrant("user:ada", "viewer", "document:plan");
        List<ChangeEvent> stored = new ArrayList<>();
        String cursor = null; // Where an earlier run stopped.
        ChangesQuery query = ChangesQuery.after(cursor).withActions(List.of("grant.created", "grant.revoked"));
        try (ChangeFeed feed = grantd.changes(query)) {
            while (feed.hasNext()) {
                ChangeEvent event = feed.next();
                System.out.println(event.change().action() + " " + event.change().grant().object());
                stored.add(event); // With event.cursor(), in the same transaction.
                if (stored.size() == 1) break;
            }
        }
        assertEquals("document:plan", stored.get(0).change().grant().object());
    }

    @Test
    void mirrorsAPart() {
        Grantd grantd = service.client();
        grantd.createGrant("user:ada", "viewer", "document:plan");
        List<String> on = List.of("document:viewer", "folder:parent");
        String from = null;
        long complete = 0;
        for (SnapshotPage page : grantd.snapshotGrants(SnapshotQuery.of(on))) {
            // Store page.grants().
            if (from == null) from = page.feedCursor();
            complete = Math.max(complete, page.seq());
        }
        try (ChangeFeed feed = grantd.changes(ChangesQuery.after(from).withOn(on).withCheckpoints(true))) {
            while (feed.hasNext()) {
                ChangeEvent event = feed.next();
                // Apply event.change(), if there is one.
                if (event.change() == null && event.seq() >= complete) break; // The mirror is exactly the grants after this entry.
            }
        }
        assertTrue(complete > 0);
    }

    @Test
    void guards() {
        Grantd grantd = service.client();
        Guard guard = new Guard(grantd, error -> System.err.println(error));
        Filter filter = new RequiresFilter(
            guard,
            request -> request.getRemoteUser() == null ? null : "user:" + request.getRemoteUser(),
            "viewer",
            request -> "document:" + request.getPathInfo().substring(1));
        assertEquals(403, guard.decide("user:ada", "viewer", "document:plan").status());
        filter.destroy();
    }

    @Test
    void isTested() {
        try (GrantdService service = GrantdService.start()) {
            Grantd grantd = service.client();
            grantd.createGrant("user:ada", "viewer", "document:plan");
            assertTrue(grantd.check("user:ada", "viewer", "document:plan"));
        }
    }

    @Test
    void traces() {
        OpenTelemetry telemetry = OpenTelemetry.noop();
        assertThrows(IllegalArgumentException.class, () -> {
            Grantd grantd = Grantd.builder().hook(new TracingHook(telemetry)).build();
        });
        Grantd traced = service.builder().hook(new TracingHook(telemetry)).build();
        assertFalse(traced.check("user:ada", "viewer", "document:plan"));
    }
}
