// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.time.Instant;

/**
 * A grant of a bulk write.
 *
 * @param grantId Opaque. A grant created again after its revocation has a new id.
 * @param subject Who. {@code namespace:external_id}, split at the first colon, compared byte for byte. The namespace
 *     starts with a letter and has up to 64 letters, digits, {@code _}, {@code .} or {@code -}; the external id has 1
 *     to 256 Unicode code points without control characters or white space. Only states have another subject: {@code
 *     *}.
 * @param relation One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest,
 *     parent), or one that the rules of the tenant declare. The rules say what follows from it; without rules,
 *     nothing.
 * @param object On what. {@code namespace:external_id}, split at the first colon, compared byte for byte. The
 *     namespace starts with a letter and has up to 64 letters, digits, {@code _}, {@code .} or {@code -}; the
 *     external id has 1 to 256 Unicode code points without control characters or white space.
 * @param createdAt When the grant was created. ISO 8601 in UTC with milliseconds.
 * @param expiresAt The grant holds until just before this moment; {@code null}: it never expires. ISO 8601 in UTC
 *     with milliseconds.
 * @param condition The grant holds only where this condition is met. Absent: it has none. Null if absent.
 * @param created False: the grant existed already; at most its expiry or its condition was changed.
 */
public record WrittenGrant(
    String grantId,
    String subject,
    String relation,
    String object,
    Instant createdAt,
    Instant expiresAt,
    GrantCondition condition,
    boolean created) {
    static WrittenGrant decode(Object value) {
        Fields fields = Fields.of(value);
        return new WrittenGrant(
            fields.required("grant_id", Fields::text),
            fields.required("subject", Fields::text),
            fields.required("relation", Fields::text),
            fields.required("object", Fields::text),
            fields.required("created_at", Fields::time),
            fields.nullable("expires_at", Fields::time),
            fields.optional("condition", GrantCondition::decode),
            fields.required("created", Fields::bool));
    }
}
