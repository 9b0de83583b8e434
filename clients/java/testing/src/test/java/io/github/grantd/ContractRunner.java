// The runner of the contract of the clients (clients/contract/README.md): performs the steps of cases and reports the
// outcomes. It judges nothing.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.System.Logger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ResourceBundle;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public final class ContractRunner {
    private static final int AT_ONCE = 8;
    private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{(\\w+)\\}");

    private final Map<String, Object> of;
    private final Map<String, Grantd> clients = new HashMap<>();
    private final Map<String, String> saved = new HashMap<>();
    private final List<String> warnings = Collections.synchronizedList(new ArrayList<>());
    private final List<String> log = Collections.synchronizedList(new ArrayList<>());

    private ContractRunner(Map<String, Object> of) {
        this.of = of;
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        ExecutorService pool = Executors.newFixedThreadPool(AT_ONCE);
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            List<Future<?>> all = new ArrayList<>();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String text = line;
                all.add(pool.submit(() -> {
                    String report = new String(Json.write(wellFormed(perform(text))), StandardCharsets.UTF_8);
                    synchronized (out) {
                        out.println(report);
                    }
                }));
            }
            for (Future<?> each : all) each.get();
        } finally {
            pool.shutdown();
        }
    }

    /** What JSON can carry: an error may name the text that was refused. */
    private static Object wellFormed(Object value) {
        if (value instanceof String text) {
            return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
        }
        if (value instanceof List<?> list) return list.stream().map(ContractRunner::wellFormed).toList();
        if (!(value instanceof Map<?, ?> map)) return value;
        Map<String, Object> written = new LinkedHashMap<>();
        map.forEach((name, each) -> written.put((String) name, wellFormed(each)));
        return written;
    }

    private static Map<String, Object> perform(String line) {
        String name = null;
        try {
            Map<String, Object> of = Records.object(Json.parse(line.getBytes(StandardCharsets.UTF_8)));
            name = (String) of.get("name");
            return new ContractRunner(of).run();
        } catch (Exception | StackOverflowError e) {
            e.printStackTrace();
            return Json.object("name", name, "failure", e.toString());
        }
    }

    private Map<String, Object> run() throws Exception {
        List<Object> outcomes = new ArrayList<>();
        for (Object step : (List<?>) of.get("steps")) outcomes.add(step(Records.object(step)));
        return Json.object(
            "name", of.get("name"), "outcomes", outcomes,
            "warnings", warnings.isEmpty() ? null : warnings, "log", log);
    }

    private Grantd client(String key) {
        return clients.computeIfAbsent(String.valueOf(key), name -> create(key));
    }

    private Grantd create(String keyOfStep) {
        GrantdBuilder builder = new GrantdBuilder();
        builder.logger(new Log());
        if (of.get("url") != null) builder.url((String) of.get("url"));
        String key = keyOfStep == null ? (String) of.get("key") : keyOfStep;
        if (key != null) builder.key(key);
        Map<String, Object> options = Records.object(of.get("client"));
        if (options.get("timeout_ms") != null) builder.timeout(milliseconds(options.get("timeout_ms")));
        if (options.get("silence_ms") != null) builder.silence(milliseconds(options.get("silence_ms")));
        if (options.get("batching") != null) builder.gathering((Boolean) options.get("batching"));
        if (options.get("retry_budget") != null) builder.retryBudget(number(options.get("retry_budget")));
        if (options.get("max_retries") != null) builder.maxRetries(number(options.get("max_retries")));
        if (options.get("user_agent") != null) builder.userAgent((String) options.get("user_agent"));
        if (options.get("backoff_first_ms") != null || options.get("backoff_max_ms") != null) {
            builder.backoff(
                milliseconds(options.getOrDefault("backoff_first_ms", 50L)),
                milliseconds(options.getOrDefault("backoff_max_ms", 2000L)));
        }
        if (options.get("headers") != null) {
            Records.object(options.get("headers")).forEach((name, value) -> builder.header(name, (String) value));
        }
        return builder.build();
    }

    private static Duration milliseconds(Object number) {
        return Duration.ofMillis((Long) number);
    }

    static int number(Object number) {
        return Math.toIntExact((Long) number);
    }

    private Object step(Map<String, Object> step) throws Exception {
        Grantd client;
        try {
            client = client((String) fill(step.get("key")));
        } catch (IllegalArgumentException e) {
            return Map.of("refused", e.getMessage());
        }
        Object outcome;
        if (step.get("each") != null) {
            outcome = Map.of("each", each(client, step));
        } else if (step.get("repeat") != null) {
            List<Object> outcomes = new ArrayList<>();
            for (int i = 0; i < number(step.get("repeat")); i++) outcomes.add(one(client, step, step.get("args")));
            outcome = Map.of("each", outcomes);
        } else {
            outcome = one(client, step, step.get("args"));
        }
        if (step.get("save") != null) {
            Records.object(step.get("save")).forEach((name, path) ->
                saved.put(name, String.valueOf(find(outcome, ((String) path).split("\\.")))));
        }
        return outcome;
    }

    /** Threads have no common moment, so gathered checks are those of checkEach. */
    private List<Object> each(Grantd client, Map<String, Object> step) throws Exception {
        List<Object> all = new ArrayList<>();
        boolean isGathered = !Boolean.FALSE.equals(Records.object(of.get("client")).get("batching"));
        if ("check".equals(step.get("call")) && isGathered) {
            List<Question> questions = new ArrayList<>();
            for (Object args : (List<?>) step.get("each")) questions.add(Records.from(Question.class, fill(args)));
            for (CheckAnswer answer : client.checkEach(questions)) all.add(outcomeOf(answer::authorized));
            return all;
        }
        ExecutorService threads = Executors.newCachedThreadPool();
        List<Future<Object>> started = new ArrayList<>();
        for (Object args : (List<?>) step.get("each")) started.add(threads.submit(() -> one(client, step, args)));
        for (Future<Object> each : started) all.add(each.get());
        threads.shutdown();
        return all;
    }

    private Object one(Grantd client, Map<String, Object> step, Object args) throws Exception {
        Map<String, Object> options = Records.object(step.get("options"));
        Grantd used = options.get("timeout_ms") == null
            ? client
            : client.withTimeout(milliseconds(options.get("timeout_ms")));
        ContractCalls calls = new ContractCalls(
            used, Records.object(fill(args)), Boolean.TRUE.equals(step.get("page")),
            step.get("take") == null ? 0 : number(step.get("take")));
        return outcomeOrError(() -> calls.perform((String) step.get("call")));
    }

    private static Object outcomeOf(Callable<?> call) throws Exception {
        return outcomeOrError(() -> ContractCalls.value(call.call()));
    }

    private static Object outcomeOrError(Callable<?> call) throws Exception {
        try {
            return call.call();
        } catch (GrantdException e) {
            return Map.of("error", Json.object(
                "type", e.type(), "status", e.status(), "retryable", e.isRetryable(), "detail", e.detail(),
                "request_id", e.requestId().orElse(null), "key_id", e.keyId().orElse(null),
                "earliest", e.earliest().orElse(null), "text", e.toString()));
        }
    }

    /** Inserts saved values into all texts. */
    private Object fill(Object value) {
        if (value instanceof String text) {
            return PLACEHOLDER.matcher(text).replaceAll(match ->
                Matcher.quoteReplacement(saved.getOrDefault(match.group(1), match.group())));
        }
        if (value instanceof List<?> list) return list.stream().map(this::fill).toList();
        if (!(value instanceof Map<?, ?> map)) return value;
        if (map.get("$utf16") instanceof List<?> units) {
            StringBuilder text = new StringBuilder();
            for (Object unit : units) text.append((char) number(unit));
            return text.toString();
        }
        Map<String, Object> filled = new LinkedHashMap<>();
        if (map.get("$members") instanceof List<?> members) {
            for (Object each : members) filled.put((String) fill(((List<?>) each).get(0)), fill(((List<?>) each).get(1)));
            return filled;
        }
        map.forEach((name, each) -> filled.put((String) name, fill(each)));
        return filled;
    }

    private static Object find(Object value, String[] path) {
        Object found = value;
        for (String name : path) {
            found = found instanceof List<?> list ? list.get(Integer.parseInt(name)) : ((Map<?, ?>) found).get(name);
        }
        return found;
    }

    /** Keeps what the client shows. */
    private final class Log implements Logger {
        @Override
        public String getName() {
            return "contract";
        }

        @Override
        public boolean isLoggable(Level level) {
            return true;
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String message, Object... parameters) {
            (level == Level.WARNING ? warnings : log).add(message);
        }
    }
}
