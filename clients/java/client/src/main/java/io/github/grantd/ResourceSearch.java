// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.Map;

/**
 * On which resources of a type may the subject perform the action?
 *
 * @param subject A subject or resource that is given.
 * @param action What the subject would do. Unknown fields are ignored.
 * @param resource What is searched for. An {@code id} is ignored.
 * @param context Values for parameters of conditions; those that no condition asks for are ignored. Null if absent.
 * @param page The page. Null if absent.
 */
public record ResourceSearch(
    GivenEntity subject,
    AccessAction action,
    WantedType resource,
    Map<String, Object> context,
    SearchPage page) {
    /**
     * Copies lists and maps.
     *
     * @param subject as in the record
     * @param action as in the record
     * @param resource as in the record
     * @param context as in the record
     * @param page as in the record
     */
    public ResourceSearch {
        context = Fields.copy(context);
    }

    /**
     * With nothing but what is required.
     *
     * @param subject as in the record
     * @param action as in the record
     * @param resource as in the record
     * @return the record
     */
    public static ResourceSearch of(GivenEntity subject, AccessAction action, WantedType resource) {
        return new ResourceSearch(subject, action, resource, null, null);
    }

    /**
     * The same with another {@code context}.
     *
     * @param context as in the record
     * @return the new record
     */
    public ResourceSearch withContext(Map<String, Object> context) {
        return new ResourceSearch(subject, action, resource, context, page);
    }

    /**
     * The same with another {@code page}.
     *
     * @param page as in the record
     * @return the new record
     */
    public ResourceSearch withPage(SearchPage page) {
        return new ResourceSearch(subject, action, resource, context, page);
    }

    Map<String, Object> toJson() {
        return Json.object(
            "subject", Json.encoded(subject, GivenEntity::toJson),
            "action", Json.encoded(action, AccessAction::toJson),
            "resource", Json.encoded(resource, WantedType::toJson),
            "context", context,
            "page", Json.encoded(page, SearchPage::toJson));
    }
}
