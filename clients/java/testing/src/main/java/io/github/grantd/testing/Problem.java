// Why a request is refused, as a problem document says it.

package io.github.grantd.testing;

import java.util.Map;

final class Problem extends RuntimeException {
    private static final long serialVersionUID = 1;
    private static final Map<String, Integer> STATUSES = Map.ofEntries(
        Map.entry("insufficient-scope", 403), Map.entry("unauthorized", 401), Map.entry("grant-not-found", 404),
        Map.entry("key-not-found", 404), Map.entry("rules-version-not-found", 404), Map.entry("not-found", 404),
        Map.entry("already-created", 409), Map.entry("precondition-failed", 412),
        Map.entry("idempotency-key-reused", 422), Map.entry("unavailable", 503));
    private static final int INVALID = 400;

    final String kind;
    final transient Map<String, Object> members;

    Problem(String kind, String detail) {
        this(kind, detail, Map.of());
    }

    Problem(String kind, String detail, Map<String, Object> members) {
        super(detail);
        this.kind = kind;
        this.members = members;
    }

    static Problem invalidRequest(String detail) {
        return new Problem("invalid-request", detail);
    }

    int status() {
        return STATUSES.getOrDefault(kind, INVALID);
    }
}
