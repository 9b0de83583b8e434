// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * A response of the service.
 *
 * @param page Where the search goes on.
 * @param results Ascending by the bytes of the id.
 */
public record EntitySearchResult(PageInfo page, List<FoundEntity> results) {
    /**
     * Copies lists and maps.
     *
     * @param page as in the record
     * @param results as in the record
     */
    public EntitySearchResult {
        results = Fields.copy(results, List.of());
    }

    static EntitySearchResult decode(Object value) {
        Fields fields = Fields.of(value);
        return new EntitySearchResult(
            fields.required("page", PageInfo::decode),
            fields.required("results", Fields.list(FoundEntity::decode)));
    }
}
