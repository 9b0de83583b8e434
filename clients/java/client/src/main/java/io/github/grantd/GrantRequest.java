package io.github.grantd;

import io.github.grantd.internal.Json;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;

/**
 * A grant to create. Without more, a new grant never expires and has no condition, and an existing one keeps what it
 * has.
 */
public final class GrantRequest {
    /** A part that the request does not have, is {@code null} in it, or has a value. */
    private record Part<T>(boolean isSet, T value) {
        static <T> Part<T> absent() {
            return new Part<>(false, null);
        }
    }

    private final Tuple tuple;
    private final Part<Instant> expiry;
    private final Part<GrantConditionRequest> condition;

    private GrantRequest(Tuple tuple, Part<Instant> expiry, Part<GrantConditionRequest> condition) {
        this.tuple = tuple;
        this.expiry = expiry;
        this.condition = condition;
    }

    /**
     * A grant of a tuple.
     *
     * @param subject who, such as {@code user:ada}
     * @param relation what, such as {@code viewer}
     * @param object on what, such as {@code document:plan}
     * @return the request
     */
    public static GrantRequest of(String subject, String relation, String object) {
        return new GrantRequest(new Tuple(subject, relation, object), Part.absent(), Part.absent());
    }

    /**
     * The same with an expiry.
     *
     * @param time the grant holds until just before it, to the millisecond
     * @return the new request
     */
    public GrantRequest expiresAt(Instant time) {
        return new GrantRequest(tuple, new Part<>(true, Objects.requireNonNull(time)), condition);
    }

    /**
     * The same without expiry: an existing grant loses the one that it has.
     *
     * @return the new request
     */
    public GrantRequest neverExpires() {
        return new GrantRequest(tuple, new Part<>(true, null), condition);
    }

    /**
     * The same on a condition.
     *
     * @param required the grant holds only where it is met
     * @return the new request
     */
    public GrantRequest onCondition(GrantConditionRequest required) {
        return new GrantRequest(tuple, expiry, new Part<>(true, Objects.requireNonNull(required)));
    }

    /**
     * The same without condition: an existing grant loses the one that it has.
     *
     * @return the new request
     */
    public GrantRequest unconditional() {
        return new GrantRequest(tuple, expiry, new Part<>(true, null));
    }

    /**
     * What it grants.
     *
     * @return subject, relation and object
     */
    public Tuple tuple() {
        return tuple;
    }

    /** {@code null} is not the same as absent here. */
    Map<String, Object> toJson() {
        Map<String, Object> members = tuple.toJson();
        if (expiry.isSet()) members.put("expires_at", expiry.value());
        if (condition.isSet()) members.put("condition", Json.encoded(condition.value(), GrantConditionRequest::toJson));
        return members;
    }

    boolean isFor(String subject, String relation, String object) {
        return tuple.equals(new Tuple(subject, relation, object));
    }

    @Override
    public String toString() {
        return "GrantRequest" + toJson();
    }
}
