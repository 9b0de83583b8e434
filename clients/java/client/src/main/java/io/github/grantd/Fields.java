// The fields of a response, each decoded as the API describes it. What is missing or of another type is an error.

package io.github.grantd;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

final class Fields {
    /** The largest integer that JSON carries exactly. */
    private static final long INTEGER_MAX = (1L << 53) - 1;

    /** The response is not what the API describes. */
    static final class UnexpectedException extends RuntimeException {
        private static final long serialVersionUID = 1;

        UnexpectedException(String message) {
            super(message);
        }
    }

    private final Map<?, ?> members;

    private Fields(Map<?, ?> members) {
        this.members = members;
    }

    static Fields of(Object value) {
        if (value instanceof Map<?, ?> members) return new Fields(members);
        throw new UnexpectedException("it is not an object");
    }

    <T> T required(String name, Function<Object, T> decode) {
        if (!members.containsKey(name)) throw new UnexpectedException('"' + name + "\" is missing");
        try {
            return decode.apply(members.get(name));
        } catch (UnexpectedException e) {
            throw new UnexpectedException('"' + name + "\": " + e.getMessage());
        }
    }

    /** Null only if the field says so. */
    <T> T nullable(String name, Function<Object, T> decode) {
        return members.containsKey(name) && members.get(name) == null ? null : required(name, decode);
    }

    /** Null only if the field is absent. */
    <T> T optional(String name, Function<Object, T> decode) {
        return members.containsKey(name) ? required(name, decode) : null;
    }

    static <T> Function<Object, List<T>> list(Function<Object, T> decode) {
        return value -> {
            if (!(value instanceof List<?> items)) throw new UnexpectedException("it is not an array");
            List<T> decoded = new ArrayList<>(items.size());
            for (Object item : items) {
                try {
                    decoded.add(decode.apply(item));
                } catch (UnexpectedException e) {
                    throw new UnexpectedException("[" + decoded.size() + "]: " + e.getMessage());
                }
            }
            return decoded;
        };
    }

    static String text(Object value) {
        if (value instanceof String text) return text;
        throw new UnexpectedException("it is not a string");
    }

    /** An empty one would be the beginning. */
    static String cursor(Object value) {
        String cursor = text(value);
        if (cursor.isEmpty()) throw new UnexpectedException("it is empty");
        return cursor;
    }

    static Boolean bool(Object value) {
        if (value instanceof Boolean known) return known;
        throw new UnexpectedException("it is not a boolean");
    }

    static Long integer(Object value) {
        if (value instanceof Long known && Math.abs(known) <= INTEGER_MAX) return known;
        if (value instanceof Double known && known == Math.rint(known) && Math.abs(known) <= INTEGER_MAX) {
            return known.longValue();
        }
        throw new UnexpectedException("it is not an integer");
    }

    static Instant time(Object value) {
        try {
            return Instant.parse(text(value));
        } catch (DateTimeException e) {
            throw new UnexpectedException("it is not a time");
        }
    }

    static Map<String, Object> map(Object value) {
        if (!(value instanceof Map<?, ?> members)) throw new UnexpectedException("it is not an object");
        Map<String, Object> copy = new LinkedHashMap<>();
        members.forEach((name, member) -> copy.put((String) name, member));
        return copy;
    }

    /** Values may be null. */
    static Map<String, Object> copy(Map<String, Object> map) {
        return map == null ? null : Collections.unmodifiableMap(new LinkedHashMap<>(map));
    }

    static <T> List<T> copy(List<T> list) {
        return list == null ? null : List.copyOf(list);
    }

    static <T> List<T> copy(List<T> list, List<T> ifAbsent) {
        return list == null ? ifAbsent : List.copyOf(list);
    }
}
