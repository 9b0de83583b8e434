// How often calls are repeated: a bucket of tokens per client, so that an outage is never made worse by a flood of retries.

package io.github.grantd;

final class RetryBudget {
    private static final double EARNED_BY_CALL = 0.1;

    private final double most;
    private double tokens;

    RetryBudget(int retries) {
        most = retries;
        tokens = retries;
    }

    /** Adds the share of one call. */
    synchronized void earn() {
        tokens = Math.min(tokens + EARNED_BY_CALL, most);
    }

    /** Takes one retry, and returns whether one was left. */
    synchronized boolean spend() {
        if (tokens < 1) return false;
        tokens -= 1;
        return true;
    }
}
