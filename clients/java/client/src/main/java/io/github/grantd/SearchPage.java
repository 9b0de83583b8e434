// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.Map;

/**
 * Which page. Requests for further pages repeat the first one with a token; the limit may be left out.
 *
 * @param token The {@code next_token} of the page before. Null if absent.
 * @param limit Results of a page at most; more than 1000, or none given: 1000. Null if absent.
 * @param properties Ignored. Null if absent.
 */
public record SearchPage(String token, Long limit, Map<String, Object> properties) {
    /**
     * Copies lists and maps.
     *
     * @param token as in the record
     * @param limit as in the record
     * @param properties as in the record
     */
    public SearchPage {
        properties = Fields.copy(properties);
    }

    /**
     * With nothing but what is required.
     *
     * @return the record
     */
    public static SearchPage of() {
        return new SearchPage(null, null, null);
    }

    /**
     * The same with another {@code token}.
     *
     * @param token as in the record
     * @return the new record
     */
    public SearchPage withToken(String token) {
        return new SearchPage(token, limit, properties);
    }

    /**
     * The same with another {@code limit}.
     *
     * @param limit as in the record
     * @return the new record
     */
    public SearchPage withLimit(Long limit) {
        return new SearchPage(token, limit, properties);
    }

    /**
     * The same with another {@code properties}.
     *
     * @param properties as in the record
     * @return the new record
     */
    public SearchPage withProperties(Map<String, Object> properties) {
        return new SearchPage(token, limit, properties);
    }

    Map<String, Object> toJson() {
        return Json.object(
            "token", token,
            "limit", limit,
            "properties", properties);
    }
}
