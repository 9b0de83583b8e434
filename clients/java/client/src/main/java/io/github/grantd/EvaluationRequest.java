// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.Map;

/**
 * May the subject perform the action on the resource? Unknown fields are ignored.
 *
 * @param subject A subject or a resource: the identifier {@code type:id}. Unknown fields are ignored.
 * @param action What the subject would do. Unknown fields are ignored.
 * @param resource A subject or a resource: the identifier {@code type:id}. Unknown fields are ignored.
 * @param context Values for parameters of conditions; those that no condition asks for are ignored. Null if absent.
 */
public record EvaluationRequest(
    AccessEntity subject,
    AccessAction action,
    AccessEntity resource,
    Map<String, Object> context) {
    /**
     * Copies lists and maps.
     *
     * @param subject as in the record
     * @param action as in the record
     * @param resource as in the record
     * @param context as in the record
     */
    public EvaluationRequest {
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
    public static EvaluationRequest of(AccessEntity subject, AccessAction action, AccessEntity resource) {
        return new EvaluationRequest(subject, action, resource, null);
    }

    /**
     * The same with another {@code context}.
     *
     * @param context as in the record
     * @return the new record
     */
    public EvaluationRequest withContext(Map<String, Object> context) {
        return new EvaluationRequest(subject, action, resource, context);
    }

    Map<String, Object> toJson() {
        return Json.object(
            "subject", Json.encoded(subject, AccessEntity::toJson),
            "action", Json.encoded(action, AccessAction::toJson),
            "resource", Json.encoded(resource, AccessEntity::toJson),
            "context", context);
    }
}
