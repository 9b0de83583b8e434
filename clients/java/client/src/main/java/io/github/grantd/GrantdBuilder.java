package io.github.grantd;

import io.github.grantd.internal.Json;
import java.lang.System.Logger;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

/** The settings of a client. All have a default; address and key have one in the environment. */
public final class GrantdBuilder {
    private static final String VERSION = "0.2.0";
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    /** Three times the longest silence of the service. */
    private static final Duration SILENCE = Duration.ofSeconds(45);
    /** Longer times mean a mistake, and would not fit into nanoseconds. */
    private static final Duration TIME_MAX = Duration.ofDays(365);
    private static final Pattern KEY = Pattern.compile("[!-~]+");
    private static final Pattern USER_AGENT = Pattern.compile("[!-~](?:[ -~]{0,254}[!-~])?");

    private String url;
    private String key;
    private Duration timeout = TIMEOUT;
    private Duration silence = SILENCE;
    private Duration backoffFirst = Duration.ofMillis(50);
    private Duration backoffMax = Duration.ofSeconds(2);
    private int maxRetries = 5;
    private int retryBudget = 10;
    private boolean gathering = true;
    private final Map<String, String> headers = new LinkedHashMap<>();
    private String userAgent;
    private Logger logger;
    private CallHook hook;
    private HttpClient httpClient;

    GrantdBuilder() {}

    /**
     * Where the service is.
     *
     * @param address such as {@code https://grantd.example}; default, without a key: {@code GRANTD_URL}
     * @return this
     */
    public GrantdBuilder url(String address) {
        url = address;
        return this;
    }

    /**
     * The API key.
     *
     * @param secret default, without a url: {@code GRANTD_KEY}
     * @return this
     */
    public GrantdBuilder key(String secret) {
        key = secret;
        return this;
    }

    /**
     * How long a call may take with all its retries.
     *
     * @param ofCall default: 10 s
     * @return this
     */
    public GrantdBuilder timeout(Duration ofCall) {
        timeout = positive(ofCall, "timeout");
        return this;
    }

    /**
     * How often one call is repeated.
     *
     * @param retries 0: never; default: 5
     * @return this
     */
    public GrantdBuilder maxRetries(int retries) {
        maxRetries = notNegative(retries, "maxRetries");
        return this;
    }

    /**
     * How many retries all calls have together in stock. Each call adds a tenth of one, so a lasting outage adds a tenth to
     * the calls.
     *
     * @param retries at first and at most; 0: none; default: 10
     * @return this
     */
    public GrantdBuilder retryBudget(int retries) {
        retryBudget = notNegative(retries, "retryBudget");
        return this;
    }

    /**
     * The bounds of the random pause before a retry, which doubles from retry to retry.
     *
     * @param first of the first pause; default: 50 ms
     * @param max of every pause; default: 2 s
     * @return this
     */
    public GrantdBuilder backoff(Duration first, Duration max) {
        if (first.isNegative() || first.compareTo(max) > 0 || max.compareTo(TIME_MAX) > 0) {
            throw new IllegalArgumentException(
                "grantd: backoff: the first pause is negative, or exceeds the maximum, or that exceeds 365 days.");
        }
        backoffFirst = first;
        backoffMax = max;
        return this;
    }

    /**
     * Whether concurrent checks are gathered into bulk checks.
     *
     * @param enabled default: true
     * @return this
     */
    public GrantdBuilder gathering(boolean enabled) {
        gathering = enabled;
        return this;
    }

    /**
     * How long the change feed may be silent before its connection counts as lost.
     *
     * @param longest default: 45 s, three times the longest silence of the service
     * @return this
     */
    public GrantdBuilder silence(Duration longest) {
        silence = positive(longest, "silence");
        return this;
    }

    /**
     * Sends a header with each request.
     *
     * @param name none of those that the client sets itself
     * @param value in printable ASCII
     * @return this
     * @throws IllegalArgumentException if the header may not be sent
     */
    public GrantdBuilder header(String name, String value) {
        Headers.check(name, value);
        headers.put(name, value);
        return this;
    }

    /**
     * Adds a name to the user agent of the client.
     *
     * @param application such as {@code documents/1.2}
     * @return this
     */
    public GrantdBuilder userAgent(String application) {
        if (!USER_AGENT.matcher(application).matches()) {
            throw new IllegalArgumentException("grantd: userAgent must be 1 to 256 characters of printable ASCII.");
        }
        userAgent = application;
        return this;
    }

    /**
     * Where the client writes each attempt ({@code DEBUG}) and the hints of the service for developers ({@code WARNING}).
     * No entry has a key, a header, a body or a query.
     *
     * @param log default: {@code System.getLogger("io.github.grantd")}
     * @return this
     */
    public GrantdBuilder logger(Logger log) {
        logger = log;
        return this;
    }

    /**
     * Surrounds each call, for tracing and metrics.
     *
     * @param around the hook
     * @return this
     */
    public GrantdBuilder hook(CallHook around) {
        hook = around;
        return this;
    }

    /**
     * For proxies and certificates. By default, no proxy is used, not even one of the system properties. It must not follow redirections: the API has none, and the key must go nowhere else.
     *
     * @param client the client of the JDK
     * @return this
     */
    public GrantdBuilder httpClient(HttpClient client) {
        if (client.followRedirects() != HttpClient.Redirect.NEVER) {
            throw new IllegalArgumentException("grantd: httpClient must not follow redirections.");
        }
        httpClient = client;
        return this;
    }

    /**
     * Checks the settings. It does not connect.
     *
     * @return the client
     * @throws IllegalArgumentException if a setting is wrong or missing
     */
    public Grantd build() {
        // The key of the environment is for the address that the environment names.
        if ((url == null) != (key == null)) {
            throw new IllegalArgumentException(
                "grantd: the builder has no " + (url == null ? "url" : "key") + ": pass both url and key, or neither and "
                    + "set GRANTD_URL and GRANTD_KEY.");
        }
        String address = url == null ? System.getenv("GRANTD_URL") : url;
        String secret = key == null ? System.getenv("GRANTD_KEY") : key;
        if (address == null || address.isEmpty() || secret == null || secret.isEmpty()) {
            throw new IllegalArgumentException(
                "grantd: the address or the API key is missing: pass url and key to the builder, or set GRANTD_URL and "
                    + "GRANTD_KEY.");
        }
        if (!KEY.matcher(secret).matches()) {
            throw new IllegalArgumentException("grantd: key has characters that no API key has.");
        }
        String runtime = Runtime.version().toString().replaceAll("[^!-'*-~]", "");
        String agent = "grantd-java/" + VERSION + " (java " + runtime + ")" + (userAgent == null ? "" : " " + userAgent);
        Transport transport = new Transport(
            base(address), secret, httpClient == null ? ownHttpClient() : httpClient, Map.copyOf(headers), agent, maxRetries,
            new RetryBudget(retryBudget), new Backoff(backoffFirst, backoffMax), silence,
            logger == null ? System.getLogger("io.github.grantd") : logger, new Warnings(), hook);
        return new Grantd(transport, timeout, gathering);
    }

    private static HttpClient ownHttpClient() {
        // Over plain HTTP, the default tries to upgrade each connection to HTTP/2.
        return HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            // A proxy of the system properties would get the key in clear over plain HTTP.
            .proxy(HttpClient.Builder.NO_PROXY)
            .build();
    }

    private static String base(String url) {
        URI parsed;
        try {
            if (!Json.isWhole(url)) throw wrongUrl();
            parsed = new URI(url);
        } catch (URISyntaxException e) {
            throw wrongUrl();
        }
        String scheme = String.valueOf(parsed.getScheme()).toLowerCase(Locale.ROOT);
        if (parsed.getHost() == null || !(scheme.equals("https") || scheme.equals("http"))) throw wrongUrl();
        if (parsed.getRawQuery() != null || parsed.getRawFragment() != null || parsed.getRawUserInfo() != null) {
            throw new IllegalArgumentException("grantd: url has a user, a query or a fragment.");
        }
        return url.replaceAll("/+$", "");
    }

    /** It may be the key in the wrong place, so it is not shown. */
    private static IllegalArgumentException wrongUrl() {
        return new IllegalArgumentException("grantd: url is not the address of a service, such as https://grantd.example.");
    }

    private static int notNegative(int number, String name) {
        if (number < 0) throw new IllegalArgumentException("grantd: " + name + " is negative.");
        return number;
    }

    static Duration positive(Duration time, String name) {
        Objects.requireNonNull(time, name);
        if (time.isZero() || time.isNegative() || time.compareTo(TIME_MAX) > 0) {
            throw new IllegalArgumentException("grantd: " + name + " must be positive, and at most 365 days.");
        }
        return time;
    }
}
