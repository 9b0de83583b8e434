// Blocking calls: they wait for futures, and throw with the stack of the caller.

package io.github.grantd;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

final class Futures {
    private Futures() {}

    static <T> T await(CompletableFuture<T> future) {
        try {
            return future.get();
        } catch (InterruptedException e) {
            future.cancel(true);
            Thread.currentThread().interrupt();
            throw GrantdException.of(Failure.cancelled(e));
        } catch (CancellationException e) {
            throw GrantdException.of(Failure.cancelled(e));
        } catch (ExecutionException e) {
            throw thrown(e.getCause());
        }
    }

    /** A new exception for each caller, since several may wait for one future. */
    static RuntimeException thrown(Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (cause instanceof GrantdException known) return GrantdException.of(known.failure());
        if (cause instanceof RuntimeException unchecked) return unchecked;
        if (cause instanceof Error fatal) throw fatal;
        return new IllegalStateException(cause);
    }
}
