package io.github.grantd;

import io.github.grantd.internal.Json;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * An API key to create.
 *
 * @param scopes at least one of {@code check:read}, {@code grant:write} and {@code admin}
 * @param name for people; or null
 * @param expiresAt the key is refused from then on; null: never
 * @param idempotencyKey names what is created, so that a repeat creates no second key; null: a random one
 */
public record KeyRequest(List<String> scopes, String name, Instant expiresAt, String idempotencyKey) {
    /**
     * Copies what can change.
     *
     * @param scopes as in the record
     * @param name as in the record
     * @param expiresAt as in the record
     * @param idempotencyKey as in the record
     */
    public KeyRequest {
        scopes = Fields.copy(scopes, List.of());
    }

    /**
     * A key that does not expire.
     *
     * @param scopes at least one of {@code check:read}, {@code grant:write} and {@code admin}
     * @return the request
     */
    public static KeyRequest of(List<String> scopes) {
        return new KeyRequest(scopes, null, null, null);
    }

    /**
     * The same with another {@code name}.
     *
     * @param name for people; or null
     * @return the new request
     */
    public KeyRequest withName(String name) {
        return new KeyRequest(scopes, name, expiresAt, idempotencyKey);
    }

    /**
     * The same with another {@code expiresAt}.
     *
     * @param expiresAt the key is refused from then on; null: never
     * @return the new request
     */
    public KeyRequest withExpiresAt(Instant expiresAt) {
        return new KeyRequest(scopes, name, expiresAt, idempotencyKey);
    }

    /**
     * The same with another {@code idempotencyKey}.
     *
     * @param idempotencyKey names what is created, so that a repeat creates no second key; null: a random one
     * @return the new request
     */
    public KeyRequest withIdempotencyKey(String idempotencyKey) {
        return new KeyRequest(scopes, name, expiresAt, idempotencyKey);
    }

    /** The body. */
    Map<String, Object> toJson() {
        return Json.object("name", name, "scopes", scopes, "expires_at", expiresAt);
    }
}
