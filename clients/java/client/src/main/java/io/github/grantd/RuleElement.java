package io.github.grantd;

import java.util.Arrays;
import java.util.List;

/**
 * What suffices for a name, or is needed for it: a name on the same object ({@code editor}), a name on an entity that has
 * a relation on it ({@code viewer from parent}, {@code all of viewer from parent}), or a gate. One of the two is null.
 *
 * @param name the name, or null
 * @param gate the gate, or null
 */
public record RuleElement(String name, RuleGate gate) {
    /**
     * Has exactly one of the two.
     *
     * @param name as in the record
     * @param gate as in the record
     */
    public RuleElement {
        if ((name == null) == (gate == null)) {
            throw new IllegalArgumentException("An element has either a name or a gate.");
        }
    }

    /**
     * A name.
     *
     * @param name the name
     * @return the element
     */
    public static RuleElement of(String name) {
        return new RuleElement(name, null);
    }

    /**
     * A gate.
     *
     * @param gate the gate
     * @return the element
     */
    public static RuleElement of(RuleGate gate) {
        return new RuleElement(null, gate);
    }

    /**
     * An element for each of the names.
     *
     * @param names the names
     * @return the elements, in order
     */
    public static List<RuleElement> names(String... names) {
        return Arrays.stream(names).map(RuleElement::of).toList();
    }

    static RuleElement decode(Object value) {
        return value instanceof String name ? of(name) : of(RuleGate.decode(value));
    }

    Object toJson() {
        return gate == null ? name : gate.toJson();
    }
}
