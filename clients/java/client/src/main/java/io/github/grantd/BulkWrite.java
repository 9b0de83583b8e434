package io.github.grantd;

import io.github.grantd.internal.Json;
import java.util.List;
import java.util.Map;

/**
 * Up to 100 grants and revocations together, and up to 100 conditions.
 *
 * @param grants to create
 * @param revocations to revoke
 * @param conditions on the state before the call; unless all are met, nothing is changed
 */
public record BulkWrite(List<GrantRequest> grants, List<Tuple> revocations, List<Condition> conditions) {
    /**
     * Copies what can change.
     *
     * @param grants as in the record
     * @param revocations as in the record
     * @param conditions as in the record
     */
    public BulkWrite {
        grants = Fields.copy(grants, List.of());
        revocations = Fields.copy(revocations, List.of());
        conditions = Fields.copy(conditions, List.of());
    }

    /**
     * Nothing yet.
     *
     * @return the request
     */
    public static BulkWrite of() {
        return new BulkWrite(null, null, null);
    }

    /**
     * The same with another {@code grants}.
     *
     * @param grants to create
     * @return the new request
     */
    public BulkWrite withGrants(List<GrantRequest> grants) {
        return new BulkWrite(grants, revocations, conditions);
    }

    /**
     * The same with another {@code revocations}.
     *
     * @param revocations to revoke
     * @return the new request
     */
    public BulkWrite withRevocations(List<Tuple> revocations) {
        return new BulkWrite(grants, revocations, conditions);
    }

    /**
     * The same with another {@code conditions}.
     *
     * @param conditions on the state before the call; unless all are met, nothing is changed
     * @return the new request
     */
    public BulkWrite withConditions(List<Condition> conditions) {
        return new BulkWrite(grants, revocations, conditions);
    }

    Map<String, Object> toJson() {
        return Json.object(
            "grants", Json.listUnlessEmpty(grants, GrantRequest::toJson),
            "revocations", Json.listUnlessEmpty(revocations, Tuple::toJson),
            "if", Json.listUnlessEmpty(conditions, Condition::toJson));
    }
}
