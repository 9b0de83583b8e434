// The end of a call with all its retries.

package io.github.grantd;

import java.time.Duration;

record Deadline(long atNanos) {
    static Deadline in(Duration time) {
        return new Deadline(System.nanoTime() + time.toNanos());
    }

    /** Not positive once it has passed. */
    long leftNanos() {
        return atNanos - System.nanoTime();
    }
}
