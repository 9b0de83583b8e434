package io.github.grantd;

import java.util.function.Consumer;

/** Surrounds each call, for tracing and metrics. What it throws fails the call. */
@FunctionalInterface
public interface CallHook {
    /**
     * Called before a call, in the thread of its caller; for gathered checks, in that of the one that completes them.
     *
     * @param call the call
     * @return called when it has ended, in any thread; or null
     */
    Consumer<CallOutcome> begin(Call call);
}
