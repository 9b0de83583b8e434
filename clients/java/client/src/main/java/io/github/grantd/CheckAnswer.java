package io.github.grantd;

import java.util.Optional;

/** The answer of one check of several: a decision, or an error of its own. */
public final class CheckAnswer {
    private final boolean isAuthorized;
    private final GrantdException error;

    CheckAnswer(boolean isAuthorized, GrantdException error) {
        this.isAuthorized = isAuthorized && error == null;
        this.error = error;
    }

    /**
     * The decision.
     *
     * @return whether the relationship holds
     * @throws GrantdException if there is no decision
     */
    public boolean authorized() {
        if (error != null) throw GrantdException.of(error.failure());
        return isAuthorized;
    }

    /**
     * Why there is no decision.
     *
     * @return the error, if there is one
     */
    public Optional<GrantdException> error() {
        return Optional.ofNullable(error);
    }

    @Override
    public String toString() {
        return error == null ? Boolean.toString(isAuthorized) : error.toString();
    }
}
