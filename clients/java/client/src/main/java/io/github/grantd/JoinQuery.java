// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.List;
import java.util.Map;

/**
 * A response of the service.
 *
 * @param namespace That of the objects that are listed.
 * @param name One of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest,
 *     parent), one that its rules declare, or a name that one of them defines.
 * @param deep As in the request for the join. Empty if absent.
 */
public record JoinQuery(String namespace, String name, List<String> deep) {
    /**
     * Copies lists and maps.
     *
     * @param namespace as in the record
     * @param name as in the record
     * @param deep as in the record
     */
    public JoinQuery {
        deep = Fields.copy(deep, List.of());
    }

    /**
     * With nothing but what is required.
     *
     * @param namespace as in the record
     * @param name as in the record
     * @return the record
     */
    public static JoinQuery of(String namespace, String name) {
        return new JoinQuery(namespace, name, null);
    }

    /**
     * The same with another {@code deep}.
     *
     * @param deep as in the record
     * @return the new record
     */
    public JoinQuery withDeep(List<String> deep) {
        return new JoinQuery(namespace, name, deep);
    }

    Map<String, Object> toJson() {
        return Json.object(
            "namespace", namespace,
            "name", name,
            "deep", Json.listUnlessEmpty(deep));
    }
}
