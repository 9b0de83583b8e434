// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.Map;

/**
 * What grants may depend on.
 *
 * @param name By which grants name the condition.
 * @param parameters The type of each parameter, by its name; at most 50.
 * @param expression In CEL, over the parameters; a bool. At most 2048 bytes in UTF-8.
 */
public record ConditionDeclaration(String name, Map<String, Object> parameters, String expression) {
    /**
     * Copies lists and maps.
     *
     * @param name as in the record
     * @param parameters as in the record
     * @param expression as in the record
     */
    public ConditionDeclaration {
        parameters = Fields.copy(parameters);
    }

    static ConditionDeclaration decode(Object value) {
        Fields fields = Fields.of(value);
        return new ConditionDeclaration(
            fields.required("name", Fields::text),
            fields.required("parameters", Fields::map),
            fields.required("expression", Fields::text));
    }

    Map<String, Object> toJson() {
        return Json.object(
            "name", name,
            "parameters", parameters,
            "expression", expression);
    }
}
