// A grant as the fake keeps it.

package io.github.grantd.testing;

import io.github.grantd.Tuple;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;

/** `id` is null for a grant that a call brings along. */
record StoredGrant(String id, Tuple tuple, Instant createdAt, Instant expiresAt) {
    /** By relation, object and subject. */
    static final Comparator<StoredGrant> ORDER = Comparator.comparing(StoredGrant::sortKey, Values.ORDER);

    String sortKey() {
        return tuple.relation() + " " + tuple.object() + " " + tuple.subject();
    }

    Map<String, Object> toJson() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("grant_id", id);
        members.put("subject", tuple.subject());
        members.put("relation", tuple.relation());
        members.put("object", tuple.object());
        members.put("created_at", Values.timeText(createdAt));
        members.put("expires_at", Values.timeText(expiresAt));
        return members;
    }
}
