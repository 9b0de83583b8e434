package io.github.grantd;

/** How rules as text are written. {@link RuleSetRequest} has it as a member. */
public enum RulesOption {
    /** Stored grants that stricter types exclude stay, and count. */
    KEEP_OUTSIDE_TYPES
}
