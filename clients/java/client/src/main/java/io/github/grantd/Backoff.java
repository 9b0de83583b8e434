// Pauses before retries, with jitter, so that clients do not come back all at once.

package io.github.grantd;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

record Backoff(Duration first, Duration max) {
    private static final int DOUBLINGS_MAX = 30;

    /** The pause before a retry, counted from 1: {@code Retry-After} plus a random time. */
    Duration before(int retry, Duration minimum) {
        long bound = first.toNanos();
        for (int i = 1; i < Math.min(retry, DOUBLINGS_MAX) && bound < max.toNanos(); i++) bound *= 2;
        bound = Math.min(bound, max.toNanos());
        return minimum.plusNanos(bound == 0 ? 0 : ThreadLocalRandom.current().nextLong(bound));
    }
}
