// Sends requests: headers, deadline, log and warnings of one attempt, and what a response is if it is not an error.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;

/** `hook` may be null. */
record Transport(
    String base,
    String key,
    HttpClient http,
    Map<String, String> headers,
    String userAgent,
    int maxRetries,
    RetryBudget budget,
    Backoff backoff,
    Duration silence,
    Logger logger,
    Warnings warnings,
    CallHook hook) {
    /** Keeps the key out of logs. */
    @Override
    public String toString() {
        return "Transport[" + base + "]";
    }

    /** A call with its retries. The future can be cancelled. It fails with a GrantdException. */
    <T> CompletableFuture<T> call(Request request, Function<Request.Response, T> decode, Deadline deadline) {
        return new Execution<>(this, request, decode, deadline).start();
    }

    /** Method and URL, without the query. */
    String where(Request request) {
        return request.method() + " " + base + request.path();
    }

    /** What cannot be sent as it is fails here, before anything is sent. */
    HttpRequest build(Request request, String accept, Map<String, String> ofCall) {
        HttpRequest.Builder builder;
        byte[] body;
        try {
            builder = HttpRequest.newBuilder(URI.create(base + request.pathAndQuery()));
            body = request.body() == null ? null : request.body() instanceof String text
                ? Json.whole(text, "rules").getBytes(StandardCharsets.UTF_8)
                : Json.write(request.body());
        } catch (IllegalArgumentException e) {
            throw GrantdException.of(Failure.invalidRequest(e.getMessage()).at(where(request)));
        }
        headers.forEach(builder::setHeader);
        ofCall.forEach(builder::setHeader);
        request.headers().forEach(builder::setHeader);
        builder.setHeader("Authorization", "Bearer " + key);
        builder.setHeader("User-Agent", userAgent);
        builder.setHeader("Accept", accept);
        if (body == null) return builder.method(request.method(), BodyPublishers.noBody()).build();
        builder.setHeader("Content-Type", request.body() instanceof String ? Request.RULES_TEXT : Request.JSON);
        return builder.method(request.method(), BodyPublishers.ofByteArray(body)).build();
    }

    /** One request, and its response in whole. */
    CompletableFuture<Request.Response> attempt(Request request, HttpRequest sent, int number, Deadline deadline) {
        return send(request, sent, number, deadline, info -> new BoundedBody(), got -> responseOf(request, got));
    }

    /** One request for a stream. The deadline is that of its head. */
    CompletableFuture<LineStream> open(Request request, int number, Deadline deadline) {
        String accept = "application/x-ndjson";
        HttpRequest sent = build(request, accept, Map.of());
        return send(request, sent, number, deadline, info -> isPromised(request, info.statusCode())
            ? new LineStream()
            : new BoundedBody(), got -> {
                if (!(got.body() instanceof LineStream stream)) throw refusal(got);
                try {
                    requireMediaType(got, accept);
                } catch (GrantdException e) {
                    stream.close();
                    throw e;
                }
                return stream;
            });
    }

    private <T> CompletableFuture<T> send(
        Request request, HttpRequest sent, int number, Deadline deadline,
        BodyHandler<Object> handler, Function<HttpResponse<Object>, T> judge) {
        long begun = System.nanoTime();
        CompletableFuture<HttpResponse<Object>> exchange = exchange(sent, handler);
        CompletableFuture<HttpResponse<Object>> timed = exchange.copy();
        CompletableFuture<T> judged = timed
            .orTimeout(Math.max(deadline.leftNanos(), 0), TimeUnit.NANOSECONDS)
            .handleAsync((got, error) -> {
                try {
                    if (error != null) {
                        abandon(exchange);
                        throw GrantdException.of(failureOf(error));
                    }
                    warn(got.headers());
                    T result = judge.apply(got);
                    log(request, number, Integer.toString(got.statusCode()), Failure.requestIdOf(got.headers()), begun);
                    return result;
                } catch (GrantdException e) {
                    Failure failure = e.failure().at(where(request));
                    log(request, number, shown(failure), failure.requestId(), begun);
                    throw new CompletionException(GrantdException.of(failure));
                }
            });
        judged.whenComplete((result, error) -> {
            if (judged.isCancelled()) abandon(exchange);
        });
        return judged;
    }

    private CompletableFuture<HttpResponse<Object>> exchange(HttpRequest sent, BodyHandler<Object> handler) {
        try {
            return http.sendAsync(sent, handler);
        } catch (RuntimeException e) {
            // Such as that of a client that has been closed.
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Ends it, and a stream that has come in the meantime. */
    private static void abandon(CompletableFuture<HttpResponse<Object>> exchange) {
        exchange.cancel(true);
        exchange.thenAccept(got -> {
            if (got.body() instanceof LineStream stream) stream.close();
        });
    }

    private static String shown(Failure failure) {
        return failure.status() == 0 ? failure.type() : failure.status() + " " + failure.type();
    }

    private static Failure failureOf(Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (cause instanceof CancellationException) return Failure.cancelled(cause);
        return cause instanceof TimeoutException ? Failure.timeout() : Failure.connectionLost(cause);
    }

    private static boolean isPromised(Request request, int status) {
        return request.accepts().contains(status);
    }

    private static Request.Response responseOf(Request request, HttpResponse<Object> got) {
        int status = got.statusCode();
        if (!isPromised(request, status)) throw refusal(got);
        if (status == 204 || status == 304) return new Request.Response(status, got.headers(), null);
        requireMediaType(got, request.accept());
        if (got.body() == BoundedBody.TOO_LARGE) {
            throw GrantdException.of(Failure.invalidResponse(status, got.headers(), "it is too large"));
        }
        try {
            byte[] body = (byte[]) got.body();
            Object value = request.accept().equals(Request.JSON) ? Json.parse(body) : Json.decode(body);
            return new Request.Response(status, got.headers(), value);
        } catch (Json.MalformedException e) {
            throw GrantdException.of(Failure.garbled(status, got.headers(), e.getMessage()));
        }
    }

    /** The client asks for none. */
    private static boolean isEncoded(HttpResponse<Object> got) {
        String encoding = got.headers().firstValue("Content-Encoding").orElse("");
        return !encoding.isEmpty() && !encoding.equalsIgnoreCase("identity");
    }

    private static void requireMediaType(HttpResponse<Object> got, String wanted) {
        if (isEncoded(got)) {
            String encoding = "its encoding is \"" + got.headers().firstValue("Content-Encoding").orElse("") + "\"";
            throw GrantdException.of(Failure.invalidResponse(got.statusCode(), got.headers(), encoding));
        }
        String given = got.headers().firstValue("Content-Type").orElse("");
        if (given.split(";", 2)[0].strip().toLowerCase(Locale.ROOT).equals(wanted)) return;
        String why = "its media type is \"" + given + "\"";
        throw GrantdException.of(Failure.invalidResponse(got.statusCode(), got.headers(), why));
    }

    private static GrantdException refusal(HttpResponse<Object> got) {
        int status = got.statusCode();
        if (status < 400) return GrantdException.of(Failure.invalidResponse(status, got.headers(), "status " + status));
        boolean isReadable = got.body() != BoundedBody.TOO_LARGE && !isEncoded(got);
        return GrantdException.of(
            Failure.problem(status, got.headers(), isReadable ? (byte[]) got.body() : new byte[0]));
    }

    private void log(Request request, int number, String outcome, String requestId, long begun) {
        long milliseconds = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
        write(Level.DEBUG, () -> request.operation() + " " + request.method() + " " + request.path() + ", attempt " + number
            + ": " + outcome + " in " + milliseconds + " ms" + (requestId == null ? "" : ", " + requestId));
    }

    private void warn(HttpHeaders of) {
        String text = warnings.unlogged(of);
        if (text != null) write(Level.WARNING, () -> text);
    }

    /** A log that fails does not fail a call. */
    private void write(Level level, Supplier<String> entry) {
        try {
            if (logger.isLoggable(level)) logger.log(level, entry.get());
        } catch (RuntimeException e) {
            // There is no place to report it.
        }
    }
}
