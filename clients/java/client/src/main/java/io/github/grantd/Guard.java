package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.function.Consumer;

/**
 * Decides whether a request of an application may go on, and fails closed: only {@link Verdict#ALLOWED} lets it through. The
 * package {@code io.github.grantd.servlet} has a filter with it; other frameworks need a few lines.
 */
public final class Guard {
    /** What an application answers. */
    public enum Verdict {
        /** The request goes on. */
        ALLOWED(200),
        /** Nobody is logged in. */
        UNAUTHENTICATED(401),
        /** The check says no, or the subject is ill-formed. */
        FORBIDDEN(403),
        /** The request is about no object, or about an ill-formed one. */
        NOT_FOUND(404),
        /** There is no answer. */
        UNAVAILABLE(503);

        private final int status;

        Verdict(int status) {
            this.status = status;
        }

        /**
         * The status of the response.
         *
         * @return the HTTP status
         */
        public int status() {
            return status;
        }
    }

    private final Grantd client;
    private final Consumer<GrantdException> onError;

    /**
     * A guard that logs no errors.
     *
     * @param client answers the checks
     */
    public Guard(Grantd client) {
        this(client, error -> {});
    }

    /**
     * A guard.
     *
     * @param client answers the checks
     * @param onError called with the error of a failed check
     */
    public Guard(Grantd client, Consumer<GrantdException> onError) {
        this.client = client;
        this.onError = onError;
    }

    /**
     * The verdict on one request.
     *
     * @param subject who is logged in, such as {@code user:ada}; null or empty: nobody
     * @param relation a relation or derived name
     * @param object what the request is about, such as {@code document:plan}; null or empty: nothing that exists
     * @return the verdict
     */
    public Verdict decide(String subject, String relation, String object) {
        if (subject == null || subject.isEmpty()) return Verdict.UNAUTHENTICATED;
        if (object == null || object.isEmpty()) return Verdict.NOT_FOUND;
        try {
            return client.check(subject, relation, object) ? Verdict.ALLOWED : Verdict.FORBIDDEN;
        } catch (GrantdException e) {
            onError.accept(e);
            return verdictOn(e.type(), subject, object);
        }
    }

    private static Verdict verdictOn(String error, String subject, String object) {
        if (error.equals(ErrorTypes.INVALID_SUBJECT)) return Verdict.FORBIDDEN;
        if (error.equals(ErrorTypes.INVALID_OBJECT)) return Verdict.NOT_FOUND;
        if (!error.equals(ErrorTypes.INVALID_REQUEST)) return Verdict.UNAVAILABLE;
        // What the client itself refuses to send.
        if (!Json.isWhole(subject)) return Verdict.FORBIDDEN;
        return Json.isWhole(object) ? Verdict.UNAVAILABLE : Verdict.NOT_FOUND;
    }
}
