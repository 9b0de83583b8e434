// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.Map;

/**
 * A relationship. Unknown fields are refused.
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
 */
public record Tuple(String subject, String relation, String object) {
    static Tuple decode(Object value) {
        Fields fields = Fields.of(value);
        return new Tuple(
            fields.required("subject", Fields::text),
            fields.required("relation", Fields::text),
            fields.required("object", Fields::text));
    }

    Map<String, Object> toJson() {
        return Json.object(
            "subject", subject,
            "relation", relation,
            "object", object);
    }
}
