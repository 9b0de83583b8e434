// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.Map;

/**
 * Which subjects of a type may perform the action on the resource?
 *
 * @param subject What is searched for. An {@code id} is ignored.
 * @param action What the subject would do. Unknown fields are ignored.
 * @param resource A subject or resource that is given.
 * @param context Values for parameters of conditions; those that no condition asks for are ignored. Null if absent.
 * @param page The page. Null if absent.
 */
public record SubjectSearch(
    WantedType subject,
    AccessAction action,
    GivenEntity resource,
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
    public SubjectSearch {
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
    public static SubjectSearch of(WantedType subject, AccessAction action, GivenEntity resource) {
        return new SubjectSearch(subject, action, resource, null, null);
    }

    /**
     * The same with another {@code context}.
     *
     * @param context as in the record
     * @return the new record
     */
    public SubjectSearch withContext(Map<String, Object> context) {
        return new SubjectSearch(subject, action, resource, context, page);
    }

    /**
     * The same with another {@code page}.
     *
     * @param page as in the record
     * @return the new record
     */
    public SubjectSearch withPage(SearchPage page) {
        return new SubjectSearch(subject, action, resource, context, page);
    }

    Map<String, Object> toJson() {
        return Json.object(
            "subject", Json.encoded(subject, WantedType::toJson),
            "action", Json.encoded(action, AccessAction::toJson),
            "resource", Json.encoded(resource, GivenEntity::toJson),
            "context", context,
            "page", Json.encoded(page, SearchPage::toJson));
    }
}
