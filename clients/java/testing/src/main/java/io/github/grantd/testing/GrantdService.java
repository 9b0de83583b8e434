package io.github.grantd.testing;

import io.github.grantd.Grantd;
import io.github.grantd.GrantdBuilder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * grantd for tests: the real service, in memory, with an empty tenant for each client. Start it once for many tests. It ends
 * with the process that has started it, also if that is killed.
 */
public final class GrantdService implements AutoCloseable {
    /** Nothing is downloaded: what a registry has under this name may be of somebody else. */
    private static final String PROGRAM =
        System.getProperty("os.name").startsWith("Windows") ? "grantd-testing.cmd" : "grantd-testing";

    private static final Pattern LINE = Pattern.compile("\\{\"url\":\"(http://[^\"]+)\"\\}");
    private static final long STOP_SECONDS_MAX = 30;

    private final String url;
    private final Process process;

    private GrantdService(String url, Process process) {
        this.url = url;
        this.process = process;
    }

    /**
     * The service of {@code GRANTD_TESTING_URL} in the environment. Without it, the program {@code grantd-testing} of the
     * {@code PATH} is started, which the package {@code @grantd/testing} of npm has.
     *
     * @return the service, once it answers
     */
    public static GrantdService start() {
        String known = System.getenv("GRANTD_TESTING_URL");
        if (known != null && !known.isEmpty()) return at(known);
        return start(List.of(PROGRAM));
    }

    /**
     * A service of another program.
     *
     * @param command the program that is started, and its arguments
     * @return the service, once it answers
     */
    public static GrantdService start(List<String> command) {
        List<String> words = new ArrayList<>(command);
        words.add("--until-stdin-closes");
        try {
            Process process = new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            InputStreamReader output = new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8);
            String line = new BufferedReader(output).readLine();
            Matcher found = LINE.matcher(line == null ? "" : line);
            if (found.matches()) return new GrantdService(found.group(1), process);
            new GrantdService("", process).close();
            throw new IllegalStateException(
                "grantd for tests did not start: " + command + " ended with " + process.exitValue() + ".");
        } catch (IOException e) {
            String hint = command.equals(List.of(PROGRAM)) ? ". Install @grantd/testing, or set GRANTD_TESTING_URL." : "";
            throw new IllegalStateException("grantd for tests did not start: " + e.getMessage() + hint, e);
        }
    }

    /**
     * A service that runs already.
     *
     * @param url its address
     * @return the service
     */
    public static GrantdService at(String url) {
        return new GrantdService(url, null);
    }

    /**
     * The address of the service.
     *
     * @return it, without a slash at its end
     */
    public String url() {
        return url;
    }

    /**
     * The key of a new, empty tenant.
     *
     * @return a key with all scopes
     */
    public String newKey() {
        return "test_" + UUID.randomUUID();
    }

    /**
     * A client of a new, empty tenant.
     *
     * @return the client
     */
    public Grantd client() {
        return builder().build();
    }

    /**
     * A client of a new, empty tenant with other settings.
     *
     * @return the builder
     */
    public GrantdBuilder builder() {
        return Grantd.builder().url(url).key(newKey());
    }

    /** Ends the service, if it was started here. */
    @Override
    public void close() {
        if (process == null) return;
        try {
            process.getOutputStream().close();
            if (!process.waitFor(STOP_SECONDS_MAX, TimeUnit.SECONDS)) process.destroyForcibly().waitFor();
        } catch (IOException e) {
            process.destroyForcibly();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
