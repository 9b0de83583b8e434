// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.time.Instant;
import java.util.List;

/**
 * A response of the service.
 *
 * @param keyId Names the key; not secret.
 * @param name For people; may be empty.
 * @param scopes The scopes.
 * @param createdAt When the key was created. ISO 8601 in UTC with milliseconds.
 * @param expiresAt The key is refused from this moment on; {@code null}: never. ISO 8601 in UTC with milliseconds.
 * @param key The API key itself. Shown here once and never again.
 */
public record CreatedKey(
    String keyId,
    String name,
    List<String> scopes,
    Instant createdAt,
    Instant expiresAt,
    String key) {
    /**
     * Copies lists and maps.
     *
     * @param keyId as in the record
     * @param name as in the record
     * @param scopes as in the record
     * @param createdAt as in the record
     * @param expiresAt as in the record
     * @param key as in the record
     */
    public CreatedKey {
        scopes = Fields.copy(scopes, List.of());
    }

    /** Keeps the secret out of logs. */
    @Override
    public String toString() {
        return "CreatedKey[" + "keyId=" + keyId
            + ", name=" + name
            + ", scopes=" + scopes
            + ", createdAt=" + createdAt
            + ", expiresAt=" + expiresAt
            + ", key=" + "***" + "]";
    }

    static CreatedKey decode(Object value) {
        Fields fields = Fields.of(value);
        return new CreatedKey(
            fields.required("key_id", Fields::text),
            fields.required("name", Fields::text),
            fields.required("scopes", Fields.list(Fields::text)),
            fields.required("created_at", Fields::time),
            fields.nullable("expires_at", Fields::time),
            fields.required("key", Fields::text));
    }
}
