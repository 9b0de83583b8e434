package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.Map;

/**
 * All grants of a subject, or all on an object: one of the two, and perhaps one relation.
 *
 * @param subject whose grants, or null
 * @param object the object that they are on, or null
 * @param relation only this relation, or null
 */
public record GrantFilter(String subject, String object, String relation) {
    /**
     * The grants of a subject.
     *
     * @param subject whose grants, or null
     * @return the request
     */
    public static GrantFilter ofSubject(String subject) {
        return new GrantFilter(subject, null, null);
    }

    /**
     * The grants on an object.
     *
     * @param object the object that they are on, or null
     * @return the request
     */
    public static GrantFilter onObject(String object) {
        return new GrantFilter(null, object, null);
    }

    /**
     * The same with another {@code relation}.
     *
     * @param relation only this relation, or null
     * @return the new request
     */
    public GrantFilter withRelation(String relation) {
        return new GrantFilter(subject, object, relation);
    }

    Map<String, Object> toJson() {
        return Json.object("subject", subject, "object", object, "relation", relation);
    }
}
