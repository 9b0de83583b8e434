package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.List;
import java.util.Map;

/**
 * The context of one check or listing. It is not stored, and no other call sees it.
 *
 * @param values values for parameters of conditions; what a grant stores takes precedence
 * @param grants at most 100 grants that count for this call as if they were stored
 */
public record CallContext(Map<String, Object> values, List<ContextGrant> grants) {
    /** Nothing. */
    public static final CallContext NONE = new CallContext(Map.of(), List.of());

    /**
     * Copies both.
     *
     * @param values as in the record
     * @param grants as in the record
     */
    public CallContext {
        values = values == null ? Map.of() : Fields.copy(values);
        grants = Fields.copy(grants, List.of());
    }

    /**
     * Values for parameters of conditions.
     *
     * @param values by the names of the parameters
     * @return the context
     */
    public static CallContext of(Map<String, Object> values) {
        return new CallContext(values, List.of());
    }

    /**
     * Grants that count for this call.
     *
     * @param grants at most 100
     * @return the context
     */
    public static CallContext of(List<ContextGrant> grants) {
        return new CallContext(Map.of(), grants);
    }

    boolean isEmpty() {
        return values.isEmpty() && grants.isEmpty();
    }

    Map<String, Object> toJson() {
        return Json.object(
            "context", values.isEmpty() ? null : values,
            "context_grants", Json.listUnlessEmpty(grants, ContextGrant::toJson));
    }
}
