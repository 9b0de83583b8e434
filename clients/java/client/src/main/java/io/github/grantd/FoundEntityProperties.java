// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * Only of the id {@code *}: whom a gate of the rules takes out of all subjects of the type.
 *
 * @param excluded Ids of subjects in the place of this page that are not permitted.
 */
public record FoundEntityProperties(List<String> excluded) {
    /**
     * Copies lists and maps.
     *
     * @param excluded as in the record
     */
    public FoundEntityProperties {
        excluded = Fields.copy(excluded, List.of());
    }

    static FoundEntityProperties decode(Object value) {
        Fields fields = Fields.of(value);
        return new FoundEntityProperties(
            fields.required("excluded", Fields.list(Fields::text)));
    }
}
