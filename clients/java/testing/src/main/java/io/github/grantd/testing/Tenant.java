// What the fake keeps, and the changes of it. Its lock is held by whoever reads or writes it.

package io.github.grantd.testing;

import io.github.grantd.Tuple;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

final class Tenant {
    /** A key that an idempotent request created. */
    record CreatedKey(String keyId, String body) {}

    volatile Clock clock = Clock.systemUTC();
    boolean isUnavailable;
    final Map<Tuple, StoredGrant> grants = new HashMap<>();
    final Map<String, Instant> namespaces = new TreeMap<>(Values.ORDER);
    final List<StoredKey> keys = new ArrayList<>();
    final Map<String, CreatedKey> created = new HashMap<>();
    final List<Map<String, Object>> changes = new ArrayList<>();
    /** Of the changes of the rules, in order. */
    final List<RuleBook> versions = new ArrayList<>();
    RuleBook rules = RuleBook.EMPTY;
    private long seq;

    /** In milliseconds, as the service shows times. */
    Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    StoredKey addKey(String name, List<String> scopes, Instant expiresAt) {
        StoredKey key = new StoredKey(Values.newId("key"), Values.newKey(), name, scopes, now(), expiresAt);
        keys.add(key);
        return key;
    }

    Search search() {
        return new Search(rules, grants);
    }

    /** Removes the grants that have expired. */
    void expire() {
        Instant now = now();
        Write ended = new Write("system", Values.newId("req"));
        for (StoredGrant grant : List.copyOf(grants.values())) {
            if (grant.expiresAt() != null && !grant.expiresAt().isAfter(now)) {
                grants.remove(grant.tuple());
                ended.record("grant.expired", "grant", grant.toJson());
            }
        }
        ended.commit();
    }

    /** The changes of one request, which have one position in the log. */
    final class Write {
        private final String actor;
        private final String requestId;
        private final List<Map<String, Object>> own = new ArrayList<>();

        Write(String actor, String requestId) {
            this.actor = actor;
            this.requestId = requestId;
        }

        Map<String, Object> record(String action, String name, Object value) {
            Map<String, Object> change = new LinkedHashMap<>();
            change.put("action", action);
            change.put(name, value);
            own.add(change);
            return change;
        }

        boolean namespace(String name) {
            if (namespaces.containsKey(name)) return false;
            namespaces.put(name, now());
            record("namespace.created", "namespace", Map.of("name", name));
            return true;
        }

        /** Creates a grant, or changes the expiry of the one that exists, if one is given. */
        StoredGrant grant(Requests.WantedGrant wanted) {
            StoredGrant stored = grants.get(wanted.tuple());
            if (stored == null) {
                namespace(Values.namespaceOf(wanted.tuple().subject()));
                namespace(Values.namespaceOf(wanted.tuple().object()));
                StoredGrant added = new StoredGrant(Values.newId("grt"), wanted.tuple(), now(), wanted.expiresAt());
                grants.put(added.tuple(), added);
                record("grant.created", "grant", added.toJson());
                return added;
            }
            if (!wanted.hasExpiry() || Objects.equals(stored.expiresAt(), wanted.expiresAt())) return stored;
            StoredGrant changed = new StoredGrant(stored.id(), stored.tuple(), stored.createdAt(), wanted.expiresAt());
            grants.put(changed.tuple(), changed);
            Map<String, Object> former = new LinkedHashMap<>();
            former.put("expires_at", Values.timeText(stored.expiresAt()));
            record("grant.updated", "grant", changed.toJson()).put("former_terms", former);
            return changed;
        }

        boolean revoke(Tuple tuple) {
            StoredGrant removed = grants.remove(tuple);
            if (removed != null) record("grant.revoked", "grant", removed.toJson());
            return removed != null;
        }

        void rules(RuleBook next) {
            record("rules.updated", "rules", next.toJson()).put("former", rules.toJson());
            versions.add(next);
            rules = next;
        }

        /** Wakes those who wait for changes. */
        void commit() {
            if (own.isEmpty()) return;
            seq++;
            long index = 0;
            for (Map<String, Object> change : own) {
                change.put("seq", seq);
                change.put("index", index++);
                change.put("at", Values.timeText(now()));
                change.put("actor", actor);
                change.put("request_id", requestId);
                changes.add(change);
            }
            own.clear();
            Tenant.this.notifyAll();
        }
    }
}
