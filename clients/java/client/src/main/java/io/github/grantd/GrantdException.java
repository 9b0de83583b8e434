package io.github.grantd;

import java.time.Duration;
import java.util.Optional;

/**
 * Everything that fails in a call: the service refused it, could not be reached, or returned an invalid response. Catch a
 * subclass, or match on {@link #type()}. No exception means "not authorized".
 */
public class GrantdException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** The deadline of the call passed. Whether a write took effect is not known. */
    public static final String TIMEOUT = "timeout";
    /** The caller cancelled the call, or its thread was interrupted. Whether a write took effect is not known. */
    public static final String CANCELLED = "cancelled";
    /** The connection could not be made, or was lost. Whether a write took effect is not known. */
    public static final String CONNECTION_LOST = "connection-lost";
    /** The response violates the API. It is never taken for a decision. */
    public static final String INVALID_RESPONSE = "invalid-response";
    /** A condition fails in a repeated write whose first attempt may have taken effect. Read before you write again. */
    public static final String OUTCOME_UNKNOWN = "outcome-unknown";

    /** What is known of the call. */
    private final Failure failure;

    GrantdException(Failure failure) {
        super(textOf(failure), failure.cause());
        this.failure = failure;
    }

    private static String textOf(Failure failure) {
        String of = failure.detail() == null || failure.detail().isEmpty() ? "" : ": " + failure.detail();
        String where = failure.where() == null ? "" : " (" + failure.where() + ")";
        String id = failure.requestId() == null ? "" : " [" + failure.requestId() + "]";
        return "grantd: " + failure.type() + of + where + id;
    }

    /** The subclass that fits. */
    static GrantdException of(Failure failure) {
        switch (failure.type()) {
            case TIMEOUT:
                return new Timeout(failure);
            case CANCELLED:
                return new Cancelled(failure);
            case CONNECTION_LOST:
                return new ConnectionLost(failure);
            case INVALID_RESPONSE:
                return new InvalidResponse(failure);
            case OUTCOME_UNKNOWN:
                return new OutcomeUnknown(failure);
            default:
                return ofStatus(failure);
        }
    }

    private static GrantdException ofStatus(Failure failure) {
        return switch (failure.status()) {
            case 400, 413, 415, 422 -> new InvalidRequest(failure);
            case 401 -> new Unauthorized(failure);
            case 403 -> new Forbidden(failure);
            case 404 -> new NotFound(failure);
            case 409 -> new Conflict(failure);
            case 412 -> new PreconditionFailed(failure);
            case 429 -> new RateLimited(failure);
            case 502, 503, 504 -> new Unavailable(failure);
            default -> new GrantdException(failure);
        };
    }

    Failure failure() {
        return failure;
    }

    /**
     * The code, such as {@code invalid-subject}: one of {@link ErrorTypes}, of the constants of this class, or a newer one.
     *
     * @return the type
     */
    public String type() {
        return failure.type();
    }

    /**
     * The HTTP status.
     *
     * @return the status, or 0 if there was no response
     */
    public int status() {
        return failure.status();
    }

    /**
     * Whether the same call can succeed later.
     *
     * @return whether it can
     */
    public boolean isRetryable() {
        return failure.isRetryable();
    }

    /**
     * The id of the request at the service.
     *
     * @return the id, if there was a response
     */
    public Optional<String> requestId() {
        return Optional.ofNullable(failure.requestId());
    }

    /**
     * What is wrong, for people.
     *
     * @return the text
     */
    public String detail() {
        return failure.detail();
    }

    /**
     * For how long the service asks callers to wait.
     *
     * @return zero, unless it asks
     */
    public Duration retryAfter() {
        return failure.retryAfter();
    }

    /**
     * The id of the API key that an earlier request created, for {@code already-created}.
     *
     * @return the id, if the error has it
     */
    public Optional<String> keyId() {
        return Optional.ofNullable(failure.keyId());
    }

    /**
     * The cursor at which the change feed begins now, for {@code cursor-too-old}.
     *
     * @return the cursor, if the error has it
     */
    public Optional<String> earliest() {
        return Optional.ofNullable(failure.earliest());
    }

    /** The deadline of the call passed. */
    public static final class Timeout extends GrantdException {
        private static final long serialVersionUID = 1;

        Timeout(Failure failure) {
            super(failure);
        }
    }

    /** The caller cancelled the call, or its thread was interrupted. */
    public static final class Cancelled extends GrantdException {
        private static final long serialVersionUID = 1;

        Cancelled(Failure failure) {
            super(failure);
        }
    }

    /** The connection could not be made, or was lost. */
    public static final class ConnectionLost extends GrantdException {
        private static final long serialVersionUID = 1;

        ConnectionLost(Failure failure) {
            super(failure);
        }
    }

    /** The response violates the API. */
    public static final class InvalidResponse extends GrantdException {
        private static final long serialVersionUID = 1;

        InvalidResponse(Failure failure) {
            super(failure);
        }
    }

    /** A write may or may not have taken effect. */
    public static final class OutcomeUnknown extends GrantdException {
        private static final long serialVersionUID = 1;

        OutcomeUnknown(Failure failure) {
            super(failure);
        }
    }

    /** The request is invalid: 400, 413, 415 or 422. */
    public static final class InvalidRequest extends GrantdException {
        private static final long serialVersionUID = 1;

        InvalidRequest(Failure failure) {
            super(failure);
        }
    }

    /** The API key is missing, unknown, expired or revoked: 401. */
    public static final class Unauthorized extends GrantdException {
        private static final long serialVersionUID = 1;

        Unauthorized(Failure failure) {
            super(failure);
        }
    }

    /** The API key lacks a scope, or the tenant is suspended or at a limit: 403. */
    public static final class Forbidden extends GrantdException {
        private static final long serialVersionUID = 1;

        Forbidden(Failure failure) {
            super(failure);
        }
    }

    /** There is no such thing: 404. */
    public static final class NotFound extends GrantdException {
        private static final long serialVersionUID = 1;

        NotFound(Failure failure) {
            super(failure);
        }
    }

    /** The call contradicts the present state: 409. */
    public static final class Conflict extends GrantdException {
        private static final long serialVersionUID = 1;

        Conflict(Failure failure) {
            super(failure);
        }
    }

    /** A condition of the call is not met: 412. */
    public static final class PreconditionFailed extends GrantdException {
        private static final long serialVersionUID = 1;

        PreconditionFailed(Failure failure) {
            super(failure);
        }
    }

    /** The tenant has used up its plan for now: 429. */
    public static final class RateLimited extends GrantdException {
        private static final long serialVersionUID = 1;

        RateLimited(Failure failure) {
            super(failure);
        }
    }

    /** The service cannot answer now: 502, 503 or 504. */
    public static final class Unavailable extends GrantdException {
        private static final long serialVersionUID = 1;

        Unavailable(Failure failure) {
            super(failure);
        }
    }
}
