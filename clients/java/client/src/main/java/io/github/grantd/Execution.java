// One call of the API: its attempts within the deadline and the budget, and the result of the last one.

package io.github.grantd;

import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

final class Execution<T> {
    private final Transport transport;
    private final Request request;
    private final Function<Request.Response, T> decode;
    private final Deadline deadline;
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private HttpRequest sent;
    private Consumer<CallOutcome> ended;
    private volatile CompletableFuture<?> inFlight;
    // Attempts follow one another, so these need no lock.
    private int attempts;
    private boolean mayHaveTakenEffect;

    Execution(Transport transport, Request request, Function<Request.Response, T> decode, Deadline deadline) {
        this.transport = transport;
        this.request = request;
        this.decode = decode;
        this.deadline = deadline;
    }

    CompletableFuture<T> start() {
        Call call = new Call(request.operation());
        try {
            ended = transport.hook() == null ? null : transport.hook().begin(call);
            sent = transport.build(request, request.accept(), call.headers());
        } catch (GrantdException e) {
            fail(e.failure());
            return result;
        } catch (RuntimeException e) {
            // The hook failed.
            result.completeExceptionally(e);
            return result;
        }
        transport.budget().earn();
        result.whenComplete((value, error) -> {
            CompletableFuture<?> current = inFlight;
            if (result.isCancelled() && current != null) current.cancel(true);
        });
        next();
        return result;
    }

    private void next() {
        if (result.isDone()) {
            end(Failure.cancelled(null), 0, null);
            return;
        }
        attempts++;
        CompletableFuture<Request.Response> attempt = transport.attempt(request, sent, attempts, deadline);
        inFlight = attempt;
        // It may have been cancelled before it was known here.
        if (result.isCancelled()) attempt.cancel(true);
        attempt.whenComplete((response, error) -> {
            if (error == null) succeed(response);
            else if (result.isCancelled()) end(Failure.cancelled(error), 0, null);
            else afterFailure(unwrapped(error));
        });
    }

    private static Failure unwrapped(Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        return cause instanceof GrantdException known ? known.failure() : Failure.connectionLost(cause);
    }

    private void succeed(Request.Response response) {
        T decoded;
        try {
            decoded = decode.apply(response);
        } catch (Fields.UnexpectedException e) {
            Failure wrong = Failure.invalidResponse(response.status(), response.headers(), e.getMessage());
            fail(wrong.at(transport.where(request)));
            return;
        } catch (RuntimeException e) {
            result.completeExceptionally(e);
            return;
        }
        end(null, response.status(), Failure.requestIdOf(response.headers()));
        result.complete(decoded);
    }

    private void afterFailure(Failure failure) {
        if (mayHaveTakenEffect && request.isConditional() && failure.type().equals(ErrorTypes.PRECONDITION_FAILED)) {
            fail(Failure.outcomeUnknown(failure));
            return;
        }
        mayHaveTakenEffect = mayHaveTakenEffect || failure.isUnknown();
        Duration pause = transport.backoff().before(attempts, failure.retryAfter());
        boolean isInTime = Duration.ofNanos(deadline.leftNanos()).compareTo(pause) > 0;
        if (!failure.isRepeatable() || attempts > transport.maxRetries() || !isInTime || !transport.budget().spend()) {
            fail(failure);
            return;
        }
        CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS).execute(this::next);
    }

    private void fail(Failure failure) {
        end(failure, failure.status(), failure.requestId());
        result.completeExceptionally(GrantdException.of(failure));
    }

    private void end(Failure failure, int status, String requestId) {
        if (ended == null) return;
        Consumer<CallOutcome> once = ended;
        ended = null;
        try {
            once.accept(new CallOutcome(status, requestId, attempts, failure == null ? null : GrantdException.of(failure)));
        } catch (RuntimeException e) {
            result.completeExceptionally(e);
        }
    }
}
