// The change feed, as pages and as a stream.

package io.github.grantd.testing;

import io.github.grantd.internal.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

final class Feed {
    static final String QUERY = "changes";
    private static final Duration CHECKPOINT_EVERY = Duration.ofSeconds(15);
    private static final int WAIT_SECONDS_MAX = 30;
    private static final List<String> ACTIONS = List.of(
        "grant.created", "grant.updated", "grant.revoked", "grant.expired", "namespace.created", "rules.updated");

    private final Tenant tenant;
    private final Object namespace;
    private final Object relation;
    /** Null: all. */
    private final List<String> actions;
    private final int limit;
    private final Duration wait;
    /** How many changes lie before it. */
    private int position;

    /** With the lock held. */
    Feed(Tenant tenant, Map<String, Object> query) {
        this.tenant = tenant;
        namespace = query.get("namespace");
        relation = query.containsKey("relation") ? Requests.relation(query, "") : null;
        actions = query.get("action") instanceof String text ? Arrays.asList(text.split(",", -1)) : null;
        if (actions != null && !ACTIONS.containsAll(actions)) throw Problem.invalidRequest("There is no such action.");
        limit = Requests.limit(query.get("limit"));
        wait = Duration.ofSeconds(secondsOf(query.get("wait")));
        position = begin(query);
    }

    private static int secondsOf(Object text) {
        String digits = text == null ? "0" : text.toString();
        if (digits.matches("\\d{1,2}") && Integer.parseInt(digits) <= WAIT_SECONDS_MAX) return Integer.parseInt(digits);
        throw Problem.invalidRequest("\"wait\" must be from 0 to " + WAIT_SECONDS_MAX);
    }

    private int begin(Map<String, Object> query) {
        String cursor = (String) query.get("cursor");
        String since = (String) query.get("since");
        int end = tenant.changes.size();
        if (cursor != null && since != null) throw Problem.invalidRequest("\"cursor\" and \"since\" are both given");
        if (cursor != null) {
            String text = Requests.readCursor(QUERY, cursor);
            if (text.matches("\\d{1,9}") && Integer.parseInt(text) <= end) return Integer.parseInt(text);
            throw new Problem("invalid-cursor", "The cursor was not issued for this feed.");
        }
        if (since == null) return 0;
        if (since.equals("now")) return end;
        Instant from = Requests.time(since, "since");
        int at = 0;
        while (at < end && Instant.parse((String) tenant.changes.get(at).get("at")).isBefore(from)) at++;
        return at;
    }

    static String cursorAt(int position) {
        return Requests.writeCursor(QUERY, Integer.toString(position));
    }

    private boolean passes(Map<String, Object> change) {
        if (actions != null && !actions.contains((String) change.get("action"))) return false;
        if (change.containsKey("grant")) {
            Map<String, Object> grant = Requests.object(change.get("grant"));
            String own = Values.namespaceOf((String) grant.get("object"));
            return (relation == null || relation.equals(grant.get("relation")))
                && (namespace == null || namespace.equals(own));
        }
        if (!change.containsKey("namespace")) return true;
        Object name = Requests.object(change.get("namespace")).get("name");
        return relation == null && (namespace == null || namespace.equals(name));
    }

    /** The next change that passes the filter, or null. With the lock held. */
    private Map<String, Object> next() {
        tenant.expire();
        while (position < tenant.changes.size()) {
            Map<String, Object> change = tenant.changes.get(position++);
            if (passes(change)) return change;
        }
        return null;
    }

    /** Waits on the lock, which it holds, until changes come or the time is over. */
    private boolean await(long endNanos) throws InterruptedException {
        long left = endNanos - System.nanoTime();
        if (left <= 0) return false;
        tenant.wait(Math.max(1, left / 1_000_000));
        return true;
    }

    Map<String, Object> page() throws InterruptedException {
        long end = System.nanoTime() + wait.toNanos();
        List<Object> changes = new ArrayList<>();
        synchronized (tenant) {
            while (changes.size() < limit) {
                Map<String, Object> change = next();
                if (change != null) changes.add(change);
                else if (!changes.isEmpty() || !await(end)) break;
            }
            return Json.object("changes", changes, "next_cursor", cursorAt(position));
        }
    }

    /** The next line: a change, or after a while a checkpoint. Null once it is to stop. */
    Map<String, Object> line(BooleanSupplier isOver) throws InterruptedException {
        long end = System.nanoTime() + CHECKPOINT_EVERY.toNanos();
        synchronized (tenant) {
            while (!isOver.getAsBoolean()) {
                Map<String, Object> change = next();
                if (change != null) return Json.object("type", "change", "change", change, "cursor", cursorAt(position));
                if (!await(end)) {
                    String at = Values.timeText(tenant.now());
                    return Json.object("type", "checkpoint", "at", at, "cursor", cursorAt(position));
                }
            }
            return null;
        }
    }
}
