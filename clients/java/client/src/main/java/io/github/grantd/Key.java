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
 * @param lastUsedAt When the key was last used, to within a few minutes; {@code null}: no use is known. ISO 8601 in
 *     UTC with milliseconds.
 */
public record Key(
    String keyId,
    String name,
    List<String> scopes,
    Instant createdAt,
    Instant expiresAt,
    Instant lastUsedAt) {
    /**
     * Copies lists and maps.
     *
     * @param keyId as in the record
     * @param name as in the record
     * @param scopes as in the record
     * @param createdAt as in the record
     * @param expiresAt as in the record
     * @param lastUsedAt as in the record
     */
    public Key {
        scopes = Fields.copy(scopes, List.of());
    }

    static Key decode(Object value) {
        Fields fields = Fields.of(value);
        return new Key(
            fields.required("key_id", Fields::text),
            fields.required("name", Fields::text),
            fields.required("scopes", Fields.list(Fields::text)),
            fields.required("created_at", Fields::time),
            fields.nullable("expires_at", Fields::time),
            fields.nullable("last_used_at", Fields::time));
    }
}
