// Parses requests, and refuses malformed ones with the type of error of the service.

package io.github.grantd.testing;

import io.github.grantd.Tuple;
import io.github.grantd.internal.Json;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;

final class Requests {
    static final int BULK_MAX = 100;
    static final int LIMIT_MAX = 1000;
    private static final int LIMIT_DEFAULT = 100;
    private static final String NAME = "[A-Za-z][A-Za-z0-9_.-]{0,63}";
    static final Pattern NAMESPACE = Pattern.compile(NAME);
    static final Pattern ELEMENT = Pattern.compile(NAME + "( from " + NAME + ")?");
    /** The external id has neither control characters nor white space. */
    static final Pattern IDENTIFIER = Pattern.compile(
        NAME + ":[^\\x00-\\x20\\x7f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]{1,256}");

    /** `expiresAt` is null for "never" and for nothing given. */
    record WantedGrant(Tuple tuple, boolean hasExpiry, Instant expiresAt) {}

    /** A page of a listing; `next` is null at the end. */
    record Page<T>(List<T> items, String next) {}

    private Requests() {}

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return value instanceof Map<?, ?> ? (Map<String, Object>) value : Map.of();
    }

    static String identifier(Map<String, Object> from, String name, String place) {
        if (from.get(name) instanceof String text && IDENTIFIER.matcher(text).matches()) return text;
        throw new Problem("invalid-" + name, '"' + place + name + "\" must be namespace:external_id");
    }

    static String relation(Map<String, Object> from, String place) {
        if (from.get("relation") instanceof String text && RuleBook.RELATIONS.contains(text)) return text;
        String all = String.join(", ", RuleBook.RELATIONS);
        throw new Problem("invalid-relation", '"' + place + "relation\" must be one of " + all);
    }

    static String name(Map<String, Object> from, String place, RuleBook rules) {
        if (from.get("relation") instanceof String text && rules.defines(text)) return text;
        return relation(from, place);
    }

    /** Refuses a condition: the fake has none, and the service refuses one that no rule declares. */
    static Tuple tuple(Map<String, Object> from, String place) {
        if (from.get("condition") != null) {
            throw new Problem("invalid-condition", '"' + place + "condition\" names none that the rules declare");
        }
        return new Tuple(identifier(from, "subject", place), relation(from, place), identifier(from, "object", place));
    }

    static Tuple question(Map<String, Object> from, String place, RuleBook rules) {
        String subject = identifier(from, "subject", place);
        String name = name(from, place, rules);
        return new Tuple(subject, name, identifier(from, "object", place));
    }

    static List<Map<String, Object>> list(Map<String, Object> from, String name) {
        if (!from.containsKey(name)) return List.of();
        if (!(from.get(name) instanceof List<?> items)) throw Problem.invalidRequest('"' + name + "\" must be an array");
        List<Map<String, Object>> objects = new ArrayList<>();
        for (Object item : items) {
            if (!(item instanceof Map<?, ?>)) {
                throw Problem.invalidRequest('"' + name + "[" + objects.size() + "]\" must be an object");
            }
            objects.add(object(item));
        }
        return objects;
    }

    static List<String> texts(Map<String, Object> from, String name, Predicate<String> isAllowed) {
        if (!(from.get(name) instanceof List<?> items)) throw Problem.invalidRequest('"' + name + "\" must be an array");
        List<String> texts = new ArrayList<>();
        for (Object item : items) {
            if (!(item instanceof String text) || !isAllowed.test(text)) {
                throw Problem.invalidRequest('"' + name + "[" + texts.size() + "]\" is not allowed");
            }
            texts.add(text);
        }
        return texts;
    }

    static Instant expiry(Map<String, Object> from, String place, Instant now) {
        Object given = from.get("expires_at");
        if (given == null) return null;
        Instant at = time(given, place + "expires_at").truncatedTo(ChronoUnit.MILLIS);
        if (at.isAfter(now)) return at;
        throw Problem.invalidRequest('"' + place + "expires_at\" must be a time in the future");
    }

    static Instant time(Object given, String place) {
        try {
            if (given instanceof String text) return OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException e) {
            // Refused below.
        }
        throw Problem.invalidRequest('"' + place + "\" must be a time");
    }

    static WantedGrant wanted(Map<String, Object> from, String place, Instant now) {
        return new WantedGrant(tuple(from, place), from.containsKey("expires_at"), expiry(from, place, now));
    }

    /** Where an element is: "checks[3].", to which the name of a field is appended. */
    static String element(String list, int index) {
        return list + "[" + index + "].";
    }

    static int limit(Object text) {
        if (text == null) return LIMIT_DEFAULT;
        try {
            int limit = Integer.parseInt(text.toString());
            if (limit >= 1 && limit <= LIMIT_MAX) return limit;
        } catch (NumberFormatException e) {
            // Refused below.
        }
        throw Problem.invalidRequest("\"limit\" must be from 1 to " + LIMIT_MAX);
    }

    /** Cuts a listing, whose items are ascending by their sort keys. An empty cursor is none. */
    static <T> Page<T> page(String query, List<T> items, Function<T, String> sortKey, int limit, String cursor) {
        List<T> left = items;
        if (cursor != null && !cursor.isEmpty()) {
            String after = readCursor(query, cursor);
            left = items.stream().filter(item -> Values.ORDER.compare(sortKey.apply(item), after) > 0).toList();
        }
        if (left.size() <= limit) return new Page<>(left, null);
        return new Page<>(left.subList(0, limit), writeCursor(query, sortKey.apply(left.get(limit - 1))));
    }

    static String writeCursor(String query, String after) {
        byte[] text = Json.write(List.of(Values.digest(query.getBytes(StandardCharsets.UTF_8)), after));
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text);
    }

    static String readCursor(String query, String cursor) {
        try {
            Object read = Json.parse(Base64.getUrlDecoder().decode(cursor));
            String digest = Values.digest(query.getBytes(StandardCharsets.UTF_8));
            if (read instanceof List<?> parts && parts.size() == 2 && digest.equals(parts.get(0))
                && parts.get(1) instanceof String after) return after;
        } catch (IllegalArgumentException | Json.MalformedException e) {
            // Refused below.
        }
        throw new Problem("invalid-cursor", "The cursor was not issued for this query.");
    }
}
