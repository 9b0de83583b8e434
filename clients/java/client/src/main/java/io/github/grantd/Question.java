// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.Map;

/**
 * A relationship, granted or following from the rules. Unknown fields are refused.
 *
 * @param subject Who. {@code namespace:external_id}, split at the first colon, compared byte for byte. The namespace
 *     starts with a letter and has up to 64 letters, digits, {@code _}, {@code .} or {@code -}; the external id has 1
 *     to 256 Unicode code points without control characters or white space. Only states have another subject: {@code
 *     *}.
 * @param relation One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest,
 *     parent), one that its rules declare, or a name that one of them defines.
 * @param object On what. {@code namespace:external_id}, split at the first colon, compared byte for byte. The
 *     namespace starts with a letter and has up to 64 letters, digits, {@code _}, {@code .} or {@code -}; the
 *     external id has 1 to 256 Unicode code points without control characters or white space.
 */
public record Question(String subject, String relation, String object) {
    Map<String, Object> toJson() {
        return Json.object(
            "subject", subject,
            "relation", relation,
            "object", object);
    }
}
