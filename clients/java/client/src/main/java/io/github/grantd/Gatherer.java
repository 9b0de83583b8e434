// Gathers concurrent checks into bulk checks of up to 100. A check that comes alone goes out at once; while others are in
// flight, checks wait for at most a millisecond for company.

package io.github.grantd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

final class Gatherer {
    /** Less than a request takes, so that gathering costs no check much. */
    private static final long GATHER_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private record WaitingCheck(Question question, CompletableFuture<Boolean> answer) {}

    private final Checks checks;
    private final Duration timeout;
    private List<WaitingCheck> waiting = new ArrayList<>();
    private int inFlight;

    Gatherer(Checks checks, Duration timeout) {
        this.checks = checks;
        this.timeout = timeout;
    }

    CompletableFuture<Boolean> check(Question question) {
        GrantdException refusal = Checks.refusalOf(question);
        if (refusal != null) return CompletableFuture.failedFuture(refusal);
        WaitingCheck one = new WaitingCheck(question, new CompletableFuture<>());
        List<WaitingCheck> ready = null;
        synchronized (this) {
            waiting.add(one);
            if (inFlight == 0 || waiting.size() == Checks.QUESTIONS_MAX) {
                ready = take();
            } else if (waiting.size() == 1) {
                List<WaitingCheck> batch = waiting;
                CompletableFuture.delayedExecutor(GATHER_NANOS, TimeUnit.NANOSECONDS).execute(() -> sendIfWaiting(batch));
            }
        }
        if (ready != null) send(ready);
        return one.answer();
    }

    /** Needs the lock. */
    private List<WaitingCheck> take() {
        List<WaitingCheck> batch = waiting;
        waiting = new ArrayList<>();
        inFlight++;
        return batch;
    }

    private void sendIfWaiting(List<WaitingCheck> batch) {
        synchronized (this) {
            if (batch != waiting || batch.isEmpty()) return;
            take();
        }
        send(batch);
    }

    private void send(List<WaitingCheck> batch) {
        // Callers that have given up need no answer.
        List<WaitingCheck> wanted = batch.stream().filter(one -> !one.answer().isDone()).toList();
        List<Question> questions = wanted.stream().map(WaitingCheck::question).toList();
        checks.each(questions, Deadline.in(timeout)).whenComplete((found, error) -> {
            List<WaitingCheck> next = null;
            synchronized (this) {
                inFlight--;
                if (inFlight == 0 && !waiting.isEmpty()) next = take();
            }
            if (next != null) send(next);
            for (int i = 0; i < wanted.size(); i++) answer(wanted.get(i).answer(), found, i, error);
        });
    }

    private static void answer(
        CompletableFuture<Boolean> answer, List<CheckAnswer> found, int index, Throwable error) {
        try {
            if (error != null) throw Futures.thrown(error);
            answer.complete(found.get(index).authorized());
        } catch (RuntimeException e) {
            answer.completeExceptionally(e);
        }
    }
}
