package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.Map;

/**
 * An evaluation whose parts have defaults: those that are null.
 *
 * @param subject who, or null
 * @param action what, or null
 * @param resource on what, or null
 * @param context values for parameters of conditions, or null
 */
public record PartialEvaluation(
    AccessEntity subject,
    AccessAction action,
    AccessEntity resource,
    Map<String, Object> context) {
    /**
     * Nothing yet.
     *
     * @return the request
     */
    public static PartialEvaluation of() {
        return new PartialEvaluation(null, null, null, null);
    }

    /**
     * The same with another {@code subject}.
     *
     * @param subject who, or null
     * @return the new request
     */
    public PartialEvaluation withSubject(AccessEntity subject) {
        return new PartialEvaluation(subject, action, resource, context);
    }

    /**
     * The same with another {@code action}.
     *
     * @param action what, or null
     * @return the new request
     */
    public PartialEvaluation withAction(AccessAction action) {
        return new PartialEvaluation(subject, action, resource, context);
    }

    /**
     * The same with another {@code resource}.
     *
     * @param resource on what, or null
     * @return the new request
     */
    public PartialEvaluation withResource(AccessEntity resource) {
        return new PartialEvaluation(subject, action, resource, context);
    }

    /**
     * The same with another {@code context}.
     *
     * @param context values for parameters of conditions, or null
     * @return the new request
     */
    public PartialEvaluation withContext(Map<String, Object> context) {
        return new PartialEvaluation(subject, action, resource, context);
    }

    Map<String, Object> toJson() {
        return Json.object(
            "subject", Json.encoded(subject, AccessEntity::toJson),
            "action", Json.encoded(action, AccessAction::toJson),
            "resource", Json.encoded(resource, AccessEntity::toJson),
            "context", context);
    }
}
