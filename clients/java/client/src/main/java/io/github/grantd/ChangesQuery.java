package io.github.grantd;

import java.util.List;

/**
 * Where the change feed begins, and which changes it has.
 *
 * @param cursor only changes after it, or null
 * @param since only changes since this time (RFC 3339), or from {@code now} on; not with a cursor; or null
 * @param namespace only grants on objects of this namespace, the namespace itself, and rules; or null
 * @param relation only grants of this relation, and rules; or null
 * @param actions only these, such as {@code grant.created}; empty: all
 * @param checkpoints whether the feed also has checkpoints: events without a change, whose cursor is worth keeping
 */
public record ChangesQuery(
    String cursor,
    String since,
    String namespace,
    String relation,
    List<String> actions,
    boolean checkpoints) {
    /**
     * Copies what can change.
     *
     * @param cursor as in the record
     * @param since as in the record
     * @param namespace as in the record
     * @param relation as in the record
     * @param actions as in the record
     * @param checkpoints as in the record
     */
    public ChangesQuery {
        actions = Fields.copy(actions, List.of());
    }

    /**
     * From the oldest stored change on.
     *
     * @return the query
     */
    public static ChangesQuery fromStart() {
        return new ChangesQuery(null, null, null, null, null, false);
    }

    /**
     * After a cursor.
     *
     * @param cursor only changes after it, or null
     * @return the query
     */
    public static ChangesQuery after(String cursor) {
        return new ChangesQuery(cursor, null, null, null, null, false);
    }

    /**
     * Since a time, or from {@code now} on.
     *
     * @param since only changes since this time (RFC 3339), or from {@code now} on; not with a cursor; or null
     * @return the query
     */
    public static ChangesQuery since(String since) {
        return new ChangesQuery(null, since, null, null, null, false);
    }

    /**
     * The same with another {@code namespace}.
     *
     * @param namespace only grants on objects of this namespace, the namespace itself, and rules; or null
     * @return the new query
     */
    public ChangesQuery withNamespace(String namespace) {
        return new ChangesQuery(cursor, since, namespace, relation, actions, checkpoints);
    }

    /**
     * The same with another {@code relation}.
     *
     * @param relation only grants of this relation, and rules; or null
     * @return the new query
     */
    public ChangesQuery withRelation(String relation) {
        return new ChangesQuery(cursor, since, namespace, relation, actions, checkpoints);
    }

    /**
     * The same with another {@code actions}.
     *
     * @param actions only these, such as {@code grant.created}; empty: all
     * @return the new query
     */
    public ChangesQuery withActions(List<String> actions) {
        return new ChangesQuery(cursor, since, namespace, relation, actions, checkpoints);
    }

    /**
     * The same with another {@code checkpoints}.
     *
     * @param checkpoints whether the feed also has checkpoints: events without a change, whose cursor is worth keeping
     * @return the new query
     */
    public ChangesQuery withCheckpoints(boolean checkpoints) {
        return new ChangesQuery(cursor, since, namespace, relation, actions, checkpoints);
    }

    ChangesQuery at(String position) {
        return new ChangesQuery(position, null, namespace, relation, actions, checkpoints);
    }

    /** `limit` and `waitSeconds` may be null. */
    Request request(Integer limit, Long waitSeconds) {
        for (int i = 0; i < actions.size(); i++) {
            // A comma would make two of it, and an empty one none, which means all.
            if (!actions.get(i).isEmpty() && !actions.get(i).contains(",")) continue;
            throw GrantdException.of(Failure.invalidRequest("\"action[" + i + "]\" is empty or has a comma"));
        }
        String action = actions.isEmpty() ? null : String.join(",", actions);
        return Request.get("listChanges", "/v1/changes", Request.query(
            "cursor", cursor, "since", since, "namespace", namespace, "relation", relation, "action", action,
            "limit", limit, "wait", waitSeconds));
    }
}
