// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.List;
import java.util.Map;

/**
 * A response of the service.
 *
 * @param subject Who. {@code namespace:external_id}, split at the first colon, compared byte for byte. The namespace
 *     starts with a letter and has up to 64 letters, digits, {@code _}, {@code .} or {@code -}; the external id has 1
 *     to 256 Unicode code points without control characters or white space. Only states have another subject: {@code
 *     *}.
 * @param join The join.
 * @param context Values for parameters of conditions, at most 32 KiB as compact JSON. What a grant stores takes
 *     precedence; what no condition asks for is ignored. For an int or uint, numbers beyond 2^53 are written as
 *     strings of digits. Null if absent.
 * @param contextGrants Grants that count for this call as if they were stored. They are not, and no other call sees
 *     them. Empty if absent.
 * @param perhaps True: sets whose conditions lack a parameter are in {@code perhaps}. Otherwise such a set refuses
 *     the call as {@code context-incomplete}. Null if absent.
 */
public record SetsRequest(
    String subject,
    JoinQuery join,
    Map<String, Object> context,
    List<ContextGrant> contextGrants,
    Boolean perhaps) {
    /**
     * Copies lists and maps.
     *
     * @param subject as in the record
     * @param join as in the record
     * @param context as in the record
     * @param contextGrants as in the record
     * @param perhaps as in the record
     */
    public SetsRequest {
        context = Fields.copy(context);
        contextGrants = Fields.copy(contextGrants, List.of());
    }

    /**
     * With nothing but what is required.
     *
     * @param subject as in the record
     * @param join as in the record
     * @return the record
     */
    public static SetsRequest of(String subject, JoinQuery join) {
        return new SetsRequest(subject, join, null, null, null);
    }

    /**
     * The same with another {@code context}.
     *
     * @param context as in the record
     * @return the new record
     */
    public SetsRequest withContext(Map<String, Object> context) {
        return new SetsRequest(subject, join, context, contextGrants, perhaps);
    }

    /**
     * The same with another {@code contextGrants}.
     *
     * @param contextGrants as in the record
     * @return the new record
     */
    public SetsRequest withContextGrants(List<ContextGrant> contextGrants) {
        return new SetsRequest(subject, join, context, contextGrants, perhaps);
    }

    /**
     * The same with another {@code perhaps}.
     *
     * @param perhaps as in the record
     * @return the new record
     */
    public SetsRequest withPerhaps(Boolean perhaps) {
        return new SetsRequest(subject, join, context, contextGrants, perhaps);
    }

    Map<String, Object> toJson() {
        return Json.object(
            "subject", subject,
            "join", Json.encoded(join, JoinQuery::toJson),
            "context", context,
            "context_grants", Json.listUnlessEmpty(contextGrants, ContextGrant::toJson),
            "perhaps", perhaps);
    }
}
