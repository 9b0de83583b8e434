// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * A response of the service.
 *
 * @param versions The newest 100, from the newest back.
 */
public record RulesVersionList(List<RulesVersion> versions) {
    /**
     * Copies lists and maps.
     *
     * @param versions as in the record
     */
    public RulesVersionList {
        versions = Fields.copy(versions, List.of());
    }

    static RulesVersionList decode(Object value) {
        Fields fields = Fields.of(value);
        return new RulesVersionList(
            fields.required("versions", Fields.list(RulesVersion::decode)));
    }
}
