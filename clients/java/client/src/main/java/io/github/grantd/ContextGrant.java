// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.Map;

/**
 * A grant that counts for one call.
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
 * @param condition The condition. Null if absent.
 */
public record ContextGrant(
    String subject,
    String relation,
    String object,
    GrantConditionRequest condition) {
    /**
     * With nothing but what is required.
     *
     * @param subject as in the record
     * @param relation as in the record
     * @param object as in the record
     * @return the record
     */
    public static ContextGrant of(String subject, String relation, String object) {
        return new ContextGrant(subject, relation, object, null);
    }

    /**
     * The same with another {@code condition}.
     *
     * @param condition as in the record
     * @return the new record
     */
    public ContextGrant withCondition(GrantConditionRequest condition) {
        return new ContextGrant(subject, relation, object, condition);
    }

    Map<String, Object> toJson() {
        return Json.object(
            "subject", subject,
            "relation", relation,
            "object", object,
            "condition", Json.encoded(condition, GrantConditionRequest::toJson));
    }
}
