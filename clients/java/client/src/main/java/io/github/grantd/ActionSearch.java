// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.Map;

/**
 * Which actions may the subject perform on the resource? An {@code action} is ignored.
 *
 * @param subject A subject or resource that is given.
 * @param resource A subject or resource that is given.
 * @param context Values for parameters of conditions; those that no condition asks for are ignored. Null if absent.
 * @param page The page. Null if absent.
 */
public record ActionSearch(
    GivenEntity subject,
    GivenEntity resource,
    Map<String, Object> context,
    SearchPage page) {
    /**
     * Copies lists and maps.
     *
     * @param subject as in the record
     * @param resource as in the record
     * @param context as in the record
     * @param page as in the record
     */
    public ActionSearch {
        context = Fields.copy(context);
    }

    /**
     * With nothing but what is required.
     *
     * @param subject as in the record
     * @param resource as in the record
     * @return the record
     */
    public static ActionSearch of(GivenEntity subject, GivenEntity resource) {
        return new ActionSearch(subject, resource, null, null);
    }

    /**
     * The same with another {@code context}.
     *
     * @param context as in the record
     * @return the new record
     */
    public ActionSearch withContext(Map<String, Object> context) {
        return new ActionSearch(subject, resource, context, page);
    }

    /**
     * The same with another {@code page}.
     *
     * @param page as in the record
     * @return the new record
     */
    public ActionSearch withPage(SearchPage page) {
        return new ActionSearch(subject, resource, context, page);
    }

    Map<String, Object> toJson() {
        return Json.object(
            "subject", Json.encoded(subject, GivenEntity::toJson),
            "resource", Json.encoded(resource, GivenEntity::toJson),
            "context", context,
            "page", Json.encoded(page, SearchPage::toJson));
    }
}
