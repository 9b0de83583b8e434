// What is known of a call that failed. Exceptions are made of it where they are thrown, with the stack of the caller.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.io.IOException;
import java.io.Serializable;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/**
 * `retryAfter` is zero without one. `isRepeatable`: whether the client repeats the call. `isUnknown`: whether a write may
 * have taken effect despite the error.
 */
record Failure(
    String type,
    int status,
    String requestId,
    boolean isRetryable,
    String detail,
    Duration retryAfter,
    String keyId,
    String earliest,
    Throwable cause,
    boolean isRepeatable,
    boolean isUnknown,
    String where) implements Serializable {
    /** What would forge lines of a log, steer a terminal, or show a text in another order. */
    private static final Pattern UNPRINTABLE =
        Pattern.compile("[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]");
    /** A line of a problem about rules. None begins as an entry of a log does. */
    private static final Pattern PROBLEM_LINE = Pattern.compile("\\\\u000a {0,2}(?=Line \\d|\"|And \\d)");
    private static final Pattern TYPE = Pattern.compile("[a-z0-9][a-z0-9-]{0,63}");
    static final HttpHeaders NO_HEADERS = HttpHeaders.of(Map.of(), (name, value) -> true);
    private static final Set<Integer> RETRYABLE = Set.of(408, 429, 502, 503, 504);
    private static final long RETRY_AFTER_MAX = Integer.MAX_VALUE;

    Failure {
        type = printable(type);
        requestId = printable(requestId);
        detail = printableLines(detail);
    }

    private static String printable(String text) {
        if (text == null) return null;
        return UNPRINTABLE.matcher(text).replaceAll(each -> String.format("\\\\u%04x", (int) each.group().charAt(0)));
    }

    private static String printableLines(String text) {
        return text == null ? null : PROBLEM_LINE.matcher(printable(text)).replaceAll("\n  ");
    }

    private static Failure local(String type, boolean isRetryable, String detail, Throwable cause, boolean isRepeatable) {
        return new Failure(
            type, 0, null, isRetryable, detail, Duration.ZERO, null, null, cause, isRepeatable, true, null);
    }

    static Failure timeout() {
        TimeoutException cause = new TimeoutException();
        return local(GrantdException.TIMEOUT, true, "the deadline of the call passed", cause, false);
    }

    static Failure cancelled(Throwable cause) {
        return local(GrantdException.CANCELLED, false, "the call was cancelled", cause, false);
    }

    static Failure connectionLost(Throwable cause) {
        return local(GrantdException.CONNECTION_LOST, true, wordsOf(cause), cause, true);
    }

    static Failure mirror(String reason, Throwable cause) {
        return local("mirror-" + reason, true, cause.getMessage(), cause, false);
    }

    /** What the client refuses to send. */
    static Failure invalidRequest(String detail) {
        return new Failure(
            ErrorTypes.INVALID_REQUEST, 400, null, false, detail, Duration.ZERO, null, null, null, false, false, null);
    }

    static Failure invalidResponse(int status, HttpHeaders headers, String why) {
        return new Failure(
            GrantdException.INVALID_RESPONSE, status, requestIdOf(headers), false,
            "the response is not what the API promises: " + why,
            Duration.ZERO, null, null, null, false, true, null);
    }

    /** A page whose cursor is the one that was sent. */
    static Failure endless() {
        return invalidResponse(200, NO_HEADERS, "a page leads to itself");
    }

    /** A response that was corrupted between the service and the client. */
    static Failure garbled(int status, HttpHeaders headers, String why) {
        return invalidResponse(status, headers, why).repeatable(true, Duration.ZERO);
    }

    static Failure outcomeUnknown(Failure condition) {
        return new Failure(
            GrantdException.OUTCOME_UNKNOWN, condition.status, condition.requestId, false,
            "a condition fails now, but an earlier attempt may have taken effect: " + condition.detail,
            Duration.ZERO, null, null, null, false, false, condition.where);
    }

    /** Reads a problem document (RFC 9457). Something between client and service may answer with another body. */
    static Failure problem(int status, HttpHeaders headers, byte[] body) {
        boolean isRetryable = RETRYABLE.contains(status);
        Duration retryAfter = retryAfterOf(headers);
        try {
            Fields fields = Fields.of(Json.parse(body));
            String address = fields.required("type", Fields::text);
            String type = address.substring(address.lastIndexOf('/') + 1);
            if (!TYPE.matcher(type).matches()) throw new Fields.UnexpectedException("the type is not a name");
            String title = fields.optional("title", Fields::text);
            String detail = fields.optional("detail", Fields::text);
            String instance = fields.optional("instance", Fields::text);
            return new Failure(
                type, status, instance != null ? instance : requestIdOf(headers), isRetryable,
                detail != null ? detail : title != null ? title : "", retryAfter,
                fields.optional("key_id", Fields::text), fields.optional("earliest", Fields::text),
                null, isRetryable, status >= 500 && !type.equals(ErrorTypes.OVERLOADED), null);
        } catch (Json.MalformedException | Fields.UnexpectedException e) {
            Failure wrong = invalidResponse(status, headers, "status " + status + " without a problem document");
            return wrong.repeatable(isRetryable, retryAfter);
        }
    }

    private Failure repeatable(boolean repeatable, Duration after) {
        return new Failure(
            type, status, requestId, repeatable, detail, after, keyId, earliest, cause, repeatable, isUnknown, where);
    }

    /** The same with another detail. */
    Failure withDetail(String other) {
        return new Failure(
            type, status, requestId, isRetryable, other, retryAfter, keyId, earliest, cause, isRepeatable, isUnknown,
            where);
    }

    /** The same with method and URL, unless it has some. */
    Failure at(String methodAndUrl) {
        if (where != null) return this;
        return new Failure(
            type, status, requestId, isRetryable, detail, retryAfter, keyId, earliest, cause, isRepeatable, isUnknown,
            methodAndUrl);
    }

    static String requestIdOf(HttpHeaders headers) {
        return printable(headers.firstValue("X-Service-Request-Id").orElse(null));
    }

    /** Whole seconds, the only form that the API has. What is too long is as long as it can be. */
    private static Duration retryAfterOf(HttpHeaders headers) {
        String text = headers.firstValue("Retry-After").orElse("");
        if (!text.matches("[0-9]+")) return Duration.ZERO;
        boolean isLong = text.length() > 18;
        return Duration.ofSeconds(isLong ? RETRY_AFTER_MAX : Math.min(Long.parseLong(text), RETRY_AFTER_MAX));
    }

    /** The JDK often has the words of the system only in the cause of a cause. */
    private static String wordsOf(Throwable error) {
        for (Throwable each = error; each != null; each = each.getCause()) {
            if (each.getMessage() != null && !(each instanceof CompletionException)) {
                return each.getClass().getSimpleName() + ": " + each.getMessage();
            }
        }
        return error instanceof IOException ? error.getClass().getSimpleName() : error.toString();
    }
}
