// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.time.Instant;
import java.util.Map;

/**
 * A grant of a reason.
 *
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
 * @param grantId Opaque. A grant created again after its revocation has a new id. Null if absent.
 * @param createdAt When the grant was created. ISO 8601 in UTC with milliseconds. Null if absent.
 * @param expiresAt The grant holds until just before this moment; {@code null}: it never expires. ISO 8601 in UTC
 *     with milliseconds. Null if absent.
 * @param condition The grant holds only where this condition is met. Absent: it has none. Null if absent.
 * @param conditionSaw The values that its condition saw. Null if absent.
 * @param contextGrant True: the call sent it. Null if absent.
 * @param excludes Of {@code excluded_by}: what the grant takes away from the subject. Null if absent.
 */
public record ReasonGrant(
    String subject,
    String relation,
    String object,
    String grantId,
    Instant createdAt,
    Instant expiresAt,
    GrantCondition condition,
    Map<String, Object> conditionSaw,
    Boolean contextGrant,
    ExcludedName excludes) {
    /**
     * Copies lists and maps.
     *
     * @param subject as in the record
     * @param relation as in the record
     * @param object as in the record
     * @param grantId as in the record
     * @param createdAt as in the record
     * @param expiresAt as in the record
     * @param condition as in the record
     * @param conditionSaw as in the record
     * @param contextGrant as in the record
     * @param excludes as in the record
     */
    public ReasonGrant {
        conditionSaw = Fields.copy(conditionSaw);
    }

    static ReasonGrant decode(Object value) {
        Fields fields = Fields.of(value);
        return new ReasonGrant(
            fields.required("subject", Fields::text),
            fields.required("relation", Fields::text),
            fields.required("object", Fields::text),
            fields.optional("grant_id", Fields::text),
            fields.optional("created_at", Fields::time),
            fields.nullable("expires_at", Fields::time),
            fields.optional("condition", GrantCondition::decode),
            fields.optional("condition_saw", Fields::map),
            fields.optional("context_grant", Fields::bool),
            fields.optional("excludes", ExcludedName::decode));
    }
}
