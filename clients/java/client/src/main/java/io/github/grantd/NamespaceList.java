// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import java.util.List;

/**
 * A response of the service.
 *
 * @param namespaces The namespaces.
 */
public record NamespaceList(List<Namespace> namespaces) {
    /**
     * Copies lists and maps.
     *
     * @param namespaces as in the record
     */
    public NamespaceList {
        namespaces = Fields.copy(namespaces, List.of());
    }

    static NamespaceList decode(Object value) {
        Fields fields = Fields.of(value);
        return new NamespaceList(
            fields.required("namespaces", Fields.list(Namespace::decode)));
    }
}
