// Services, and things in front of them, that answer wrongly.

package io.github.grantd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NeighboursTest {
    private static final String CHECKED_AT = "\"checked_at\": \"2026-01-15T09:30:00.000Z\"";

    /** Answers a request; `out` is the connection. */
    private interface Responder {
        void respond(String head, String body, OutputStream out) throws IOException;
    }

    /** A server of raw bytes, which ends with its test. */
    private static final class RawServer implements AutoCloseable {
        private static final Pattern LENGTH = Pattern.compile("content-length: (\\d+)");
        final AtomicInteger requests = new AtomicInteger();
        private final ServerSocket listener;
        private final Responder responder;

        RawServer(Responder responder) throws IOException {
            this.responder = responder;
            listener = new ServerSocket(0, 500, InetAddress.getLoopbackAddress());
            start(() -> {
                while (true) {
                    Socket socket = listener.accept();
                    start(() -> serve(socket));
                }
            });
        }

        private interface Work {
            void run() throws IOException;
        }

        private static void start(Work work) {
            Thread thread = new Thread(() -> {
                try {
                    work.run();
                } catch (IOException e) {
                    // The other end is gone, or the test is over.
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        private void serve(Socket socket) throws IOException {
            try (socket) {
                InputStream in = new java.io.BufferedInputStream(socket.getInputStream());
                while (true) {
                    StringBuilder head = new StringBuilder();
                    while (head.indexOf("\r\n\r\n") < 0) {
                        int next = in.read();
                        if (next < 0) return;
                        head.append((char) next);
                    }
                    Matcher length = LENGTH.matcher(head.toString().toLowerCase(Locale.ROOT));
                    byte[] body = in.readNBytes(length.find() ? Integer.parseInt(length.group(1)) : 0);
                    requests.incrementAndGet();
                    responder.respond(head.toString(), new String(body, StandardCharsets.UTF_8), socket.getOutputStream());
                }
            }
        }

        int port() {
            return listener.getLocalPort();
        }

        GrantdBuilder builder() {
            return Grantd.builder().url("http://127.0.0.1:" + port()).key("gk1_k").gathering(false);
        }

        @Override
        public void close() throws IOException {
            listener.close();
        }
    }

    private static byte[] answer(int status, String headers, byte[] body) {
        String head = "HTTP/1.1 " + status + " Status\r\n" + headers + "Content-Length: " + body.length + "\r\n\r\n";
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(head.getBytes(StandardCharsets.UTF_8));
        all.writeBytes(body);
        return all.toByteArray();
    }

    private static byte[] json(String text) {
        return answer(200, "Content-Type: application/json\r\n", text.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] decision(boolean authorized) {
        return json("{\"authorized\": " + authorized + ", " + CHECKED_AT + "}");
    }

    private static boolean check(Grantd client) {
        return client.check("user:ada", "viewer", "document:plan");
    }

    @Test
    void aResponseThatNobodyAskedForIsNoAnswer() throws Exception {
        AtomicInteger allowed = new AtomicInteger();
        AtomicInteger denied = new AtomicInteger();
        try (RawServer server = new RawServer((head, body, out) -> {
            ByteArrayOutputStream both = new ByteArrayOutputStream();
            both.writeBytes(decision(false));
            both.writeBytes(decision(true));
            out.write(both.toByteArray());
        })) {
            Grantd client = server.builder().maxRetries(0).build();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 32; i++) {
                Thread thread = new Thread(() -> {
                    for (int n = 0; n < 50; n++) {
                        try {
                            (check(client) ? allowed : denied).incrementAndGet();
                        } catch (GrantdException e) {
                            // The connection has been dropped.
                        }
                    }
                });
                threads.add(thread);
                thread.start();
            }
            for (Thread each : threads) each.join();
        }
        assertEquals(0, allowed.get());
        assertTrue(denied.get() > 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "HTTP/1.1 200 OK\r\nX-A: |a", "HTTP/1.1 200 OK\r\n|X-A: a\r\n", "|HTTP/1.1 102 Processing\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{| ",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n|1\r\n \r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1;a=|a",
        "HTTP/1.1 503 Unavailable\r\nContent-Length: 100000\r\n\r\n| ",
    })
    void aDeadlineHoldsWhateverTrickles(String parts) throws IOException {
        try (RawServer server = new RawServer((head, body, out) -> {
            out.write(parts.substring(0, parts.indexOf('|')).getBytes(StandardCharsets.UTF_8));
            byte[] rest = parts.substring(parts.indexOf('|') + 1).getBytes(StandardCharsets.UTF_8);
            try {
                while (true) {
                    out.write(rest);
                    out.flush();
                    Thread.sleep(10);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        })) {
            Grantd client = server.builder().timeout(Duration.ofMillis(400)).build();
            GrantdException error = assertThrows(GrantdException.class, () -> check(client));
            // The JDK takes too many informational responses for an error, which is repeated until the deadline.
            String type = parts.contains("102") && !error.type().equals("timeout") ? "connection-lost" : "timeout";
            assertEquals(type, error.type());
        }
    }

    @Test
    void aResponseWithoutABoundIsAnErrorAndIsNotRepeated() throws IOException {
        byte[] space = new byte[1 << 20];
        java.util.Arrays.fill(space, (byte) ' ');
        for (int status : new int[] {200, 500}) {
            try (RawServer server = new RawServer((head, body, out) -> {
                String type = "Content-Type: application/json\r\n";
                out.write(("HTTP/1.1 " + status + " Status\r\n" + type + "Content-Length: 100000000\r\n\r\n")
                    .getBytes(StandardCharsets.UTF_8));
                for (int i = 0; i < 95; i++) out.write(space);
            })) {
                // A slow machine reads so many bytes in more than the usual deadline.
                Grantd client = server.builder().timeout(Duration.ofMinutes(2)).build();
                GrantdException error = assertThrows(GrantdException.InvalidResponse.class, () -> check(client));
                assertEquals(status, error.status());
                assertFalse(error.isRetryable());
                assertEquals(1, server.requests.get());
            }
        }
    }

    @Test
    void anEncodingThatNobodyAskedForIsRefused() throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        String text = "{\"authorized\": true, " + CHECKED_AT + "}";
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            gzip.write(text.getBytes(StandardCharsets.UTF_8));
        }
        String headers = "Content-Type: application/json\r\nContent-Encoding: gzip\r\n";
        for (byte[] body : List.of(packed.toByteArray(), text.getBytes(StandardCharsets.UTF_8))) {
            try (RawServer server = new RawServer((head, sent, out) -> out.write(answer(200, headers, body)))) {
                Grantd client = server.builder().maxRetries(0).build();
                GrantdException error = assertThrows(GrantdException.InvalidResponse.class, () -> check(client));
                assertTrue(error.detail().contains("gzip"), error.detail());
            }
        }
    }

    @Test
    void oneOversizedCheckFailsAlone() throws IOException {
        try (RawServer server = new RawServer((head, body, out) -> {
            if (body.length() > 10_000) {
                String problem = "{\"type\": \"/payload-too-large\", \"detail\": \"It is too large.\", \"instance\": \"r\"}";
                String headers = "Content-Type: application/problem+json\r\n";
                out.write(answer(413, headers, problem.getBytes(StandardCharsets.UTF_8)));
            } else if (body.contains("\"checks\"")) {
                int count = body.split("\"subject\"", -1).length - 1;
                String results = "{\"authorized\": true}" + ", {\"authorized\": true}".repeat(count - 1);
                out.write(json("{\"results\": [" + results + "], " + CHECKED_AT + "}"));
            } else {
                out.write(decision(true));
            }
        })) {
            List<Question> questions = new ArrayList<>();
            for (int i = 0; i < 9; i++) {
                questions.add(new Question("user:" + (i == 4 ? "a".repeat(20_000) : "b"), "viewer", "document:a"));
            }
            List<CheckAnswer> answers = server.builder().maxRetries(0).build().checkEach(questions);
            for (int i = 0; i < 9; i++) {
                if (i == 4) assertEquals("payload-too-large", answers.get(i).error().get().type());
                else assertTrue(answers.get(i).authorized());
            }
            assertTrue(server.requests.get() <= 9, () -> server.requests + " requests");
        }
    }

    @Test
    void anEmptyCursorIsNoEnd() throws IOException {
        try (RawServer server = new RawServer((head, body, out) -> {
            if (head.contains("application/x-ndjson")) {
                String line = "{\"type\": \"checkpoint\", \"cursor\": \"\", \"at\": \"2026-01-15T09:30:00.000Z\"}\n";
                out.write(answer(200, "Content-Type: application/x-ndjson\r\n", line.getBytes(StandardCharsets.UTF_8)));
            } else {
                String name = head.replaceFirst("(?s)^GET /v1/(\\w+).*", "$1");
                out.write(json("{\"" + name + "\": [], \"next_cursor\": \"\"}"));
            }
        })) {
            Grantd client = server.builder().maxRetries(0).build();
            ObjectsQuery objects = ObjectsQuery.of("user:a", "viewer");
            List<Runnable> calls = List.of(
                () -> client.listObjects(objects).iterator().hasNext(),
                () -> client.listObjectsPage(objects),
                () -> client.listSubjectsPage(SubjectsQuery.of("document:a", "viewer")),
                () -> client.listGrantsPage(GrantsQuery.ofSubject("user:a")),
                () -> client.listKeysPage(new KeysQuery(null, null)),
                () -> client.listChangesPage(ChangesQuery.fromStart(), null, Duration.ZERO),
                () -> client.changes(ChangesQuery.since("now")).hasNext(),
                () -> client.changes(ChangesQuery.fromStart()).hasNext());
            for (Runnable call : calls) assertThrows(GrantdException.InvalidResponse.class, call::run);
        }
    }

    @Test
    void aFeedFromNowHasTheChangeOfItsFirstPage() throws IOException {
        String change = "{\"seq\": %d, \"index\": 0, \"at\": \"2026-01-15T09:30:00.000Z\", \"actor\": \"system\","
            + " \"request_id\": \"req_1\", \"action\": \"grant.created\"}";
        AtomicInteger streams = new AtomicInteger();
        try (RawServer server = new RawServer((head, body, out) -> {
            if (head.contains("application/x-ndjson")) {
                streams.incrementAndGet();
                StringBuilder lines = new StringBuilder();
                for (int seq = 1; seq <= 2; seq++) {
                    lines.append("{\"type\": \"change\", \"cursor\": \"c" + seq + "\", \"change\": " + change.formatted(seq) + "}\n");
                }
                out.write(answer(200, "Content-Type: application/x-ndjson\r\n", lines.toString().getBytes(StandardCharsets.UTF_8)));
            } else {
                out.write(json("{\"changes\": [" + change.formatted(1) + "], \"next_cursor\": \"c1\", \"seq\": 1}"));
            }
        })) {
            try (ChangeFeed feed = server.builder().build().changes(ChangesQuery.since("now"))) {
                ChangeEvent first = feed.next();
                assertEquals("c1 1", first.cursor() + " " + first.change().seq());
                assertEquals(0, streams.get());
                ChangeEvent second = feed.next();
                assertEquals("c2 2", second.cursor() + " " + second.change().seq());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"7:7", "soon:0", "1.5:0", "4294967296:2147483647", "99999999999999999999:2147483647"})
    void aLongRetryAfterIsKept(String pair) throws IOException {
        String headers = "Retry-After: " + pair.split(":")[0] + "\r\n";
        try (RawServer server = new RawServer((head, sent, out) -> out.write(answer(429, headers, new byte[0])))) {
            GrantdException error =
                assertThrows(GrantdException.class, () -> check(server.builder().maxRetries(0).build()));
            assertEquals(Long.parseLong(pair.split(":")[1]), error.retryAfter().toSeconds());
        }
    }

    @Test
    void anErrorForgesNoLineOfALog() throws IOException {
        String evil = "a\\nb\\r\\u001b[31m\\u0085\\u007f\\u2028\\u202e\\u2066\\u200f";
        String problem = "{\"type\": \"/errors/%2$s\", \"detail\": \"%1$s\", \"instance\": \"%1$s\"}";
        String headers = "Content-Type: application/problem+json\r\n";
        byte[] body = problem.formatted(evil, "of-its-own").getBytes(StandardCharsets.UTF_8);
        byte[] forged = problem.formatted(evil, evil).getBytes(StandardCharsets.UTF_8);
        try (RawServer server = new RawServer((head, sent, out) -> out.write(answer(400, headers, forged)))) {
            assertThrows(GrantdException.InvalidResponse.class, () -> check(server.builder().build()));
        }
        try (RawServer server = new RawServer((head, sent, out) -> out.write(answer(400, headers, body)))) {
            GrantdException error = assertThrows(GrantdException.class, () -> check(server.builder().build()));
            assertEquals("a\\u000ab\\u000d\\u001b[31m\\u0085\\u007f\\u2028\\u202e\\u2066\\u200f", error.detail());
            for (String text : List.of(error.toString(), error.type(), error.detail(), error.requestId().get())) {
                assertFalse(text.matches("(?s).*[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u202e\\u2066\\u200f].*"), text);
            }
        }
    }

    @Test
    void aProxyOfTheSystemIsNotUsedUnlessTheApplicationAsks() throws IOException {
        ProxySelector previous = ProxySelector.getDefault();
        try (RawServer proxy = new RawServer((head, body, out) -> out.write(decision(true)))) {
            ProxySelector selector = ProxySelector.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), proxy.port()));
            // `http.proxyHost` does the same.
            ProxySelector.setDefault(selector);
            GrantdBuilder builder = Grantd.builder().url("http://grantd.invalid").key("gk1_k").maxRetries(0);
            assertThrows(GrantdException.ConnectionLost.class, () -> check(builder.build()));
            assertEquals(0, proxy.requests.get());
            HttpClient asking = HttpClient.newBuilder().proxy(ProxySelector.getDefault()).build();
            assertTrue(check(builder.httpClient(asking).build()));
        } finally {
            ProxySelector.setDefault(previous);
        }
    }
}
