// An API key as the fake keeps it.

package io.github.grantd.testing;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

record StoredKey(String id, String text, String name, List<String> scopes, Instant createdAt, Instant expiresAt) {
    Map<String, Object> toJson() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("key_id", id);
        members.put("name", name);
        members.put("scopes", scopes);
        members.put("created_at", Values.timeText(createdAt));
        members.put("expires_at", Values.timeText(expiresAt));
        return members;
    }

    /** Keeps the secret out of logs. */
    @Override
    public String toString() {
        return "StoredKey[" + id + "]";
    }
}
