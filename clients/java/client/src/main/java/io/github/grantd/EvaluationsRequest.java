package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.List;
import java.util.Map;

/**
 * Up to 100 evaluations, and defaults for their parts. Without evaluations, the defaults are one.
 *
 * @param defaults for parts that an evaluation does not have, or null
 * @param evaluations in order
 * @param semantic {@code execute_all}, {@code deny_on_first_deny} or {@code permit_on_first_permit}; null: the first
 */
public record EvaluationsRequest(
    PartialEvaluation defaults,
    List<PartialEvaluation> evaluations,
    String semantic) {
    /**
     * Copies what can change.
     *
     * @param defaults as in the record
     * @param evaluations as in the record
     * @param semantic as in the record
     */
    public EvaluationsRequest {
        evaluations = Fields.copy(evaluations, List.of());
    }

    /**
     * Evaluations with defaults.
     *
     * @param defaults for parts that an evaluation does not have, or null
     * @param evaluations in order
     * @return the request
     */
    public static EvaluationsRequest of(PartialEvaluation defaults, List<PartialEvaluation> evaluations) {
        return new EvaluationsRequest(defaults, evaluations, null);
    }

    /**
     * The same with another {@code semantic}.
     *
     * @param semantic {@code execute_all}, {@code deny_on_first_deny} or {@code permit_on_first_permit}; null: the first
     * @return the new request
     */
    public EvaluationsRequest withSemantic(String semantic) {
        return new EvaluationsRequest(defaults, evaluations, semantic);
    }

    Map<String, Object> toJson() {
        Map<String, Object> members = defaults == null ? Json.object() : defaults.toJson();
        members.putAll(Json.object(
            "evaluations", Json.listUnlessEmpty(evaluations, PartialEvaluation::toJson),
            "options", semantic == null ? null : Json.object("evaluations_semantic", semantic)));
        return members;
    }

    /** Whether all are decided, or only the last decision ends the evaluation early. */
    boolean isComplete(List<Decision> decisions) {
        boolean settles = "permit_on_first_permit".equals(semantic);
        if (settles || "deny_on_first_deny".equals(semantic)) {
            for (int i = 0; i < decisions.size(); i++) {
                if (decisions.get(i).decision() == settles) {
                    return i == decisions.size() - 1 && decisions.size() <= evaluations.size();
                }
            }
        }
        return decisions.size() == evaluations.size();
    }
}
