package io.github.grantd.internal;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/** JSON (RFC 8259) as the API has it: a strict reader, which refuses what other readers guess, and a writer. */
public final class Json {
    /** More than any response has: a proof of 25 steps has about 100. */
    private static final int DEPTH_MAX = 512;
    private static final int LONG_DIGITS_MAX = 18;
    private static final Set<Class<?>> NUMBERS = Set.of(
        Byte.class, Short.class, Integer.class, Long.class, Float.class, Double.class, BigInteger.class, BigDecimal.class,
        AtomicInteger.class, AtomicLong.class);

    /** The text is not JSON. */
    public static final class MalformedException extends Exception {
        private static final long serialVersionUID = 1;

        MalformedException(String message) {
            super(message);
        }
    }

    private final String text;
    private int at;
    private int depth;

    private Json(String text) {
        this.text = text;
    }

    /** Objects become maps in their order, integers {@code Long}, and other numbers {@code Double}. */
    public static Object parse(byte[] utf8) throws MalformedException {
        return new Json(decode(utf8)).document();
    }

    /** The text of a body. */
    public static String decode(byte[] utf8) throws MalformedException {
        try {
            return StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT)
                .decode(ByteBuffer.wrap(utf8))
                .toString();
        } catch (CharacterCodingException e) {
            throw new MalformedException("it is not UTF-8");
        }
    }

    private Object document() throws MalformedException {
        Object value = value();
        space();
        if (at < text.length()) throw wrong("something follows the value");
        return value;
    }

    private MalformedException wrong(String what) {
        return new MalformedException("it is not JSON: " + what + " at character " + at);
    }

    private void space() {
        while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) at++;
    }

    private char next() throws MalformedException {
        if (at == text.length()) throw wrong("it ends too early");
        return text.charAt(at++);
    }

    private boolean skip(char wanted) {
        if (at == text.length() || text.charAt(at) != wanted) return false;
        at++;
        return true;
    }

    private Object value() throws MalformedException {
        space();
        if (at == text.length()) throw wrong("it ends too early");
        return switch (text.charAt(at)) {
            case '{' -> object();
            case '[' -> array();
            case '"' -> string();
            case 't' -> word("true", Boolean.TRUE);
            case 'f' -> word("false", Boolean.FALSE);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Object word(String word, Object value) throws MalformedException {
        if (!text.startsWith(word, at)) throw wrong("an unknown word");
        at += word.length();
        return value;
    }

    private void enter() throws MalformedException {
        at++;
        if (++depth > DEPTH_MAX) throw wrong("too much nesting");
        space();
    }

    private Map<String, Object> object() throws MalformedException {
        Map<String, Object> members = new LinkedHashMap<>();
        enter();
        if (!skip('}')) {
            do {
                space();
                if (at == text.length() || text.charAt(at) != '"') throw wrong("no name of a member");
                String name = string();
                space();
                if (!skip(':')) throw wrong("no colon");
                if (members.containsKey(name)) throw wrong("a second member of the same name");
                members.put(name, value());
                space();
            } while (skip(','));
            if (!skip('}')) throw wrong("an object without end");
        }
        depth--;
        return members;
    }

    private List<Object> array() throws MalformedException {
        List<Object> items = new ArrayList<>();
        enter();
        if (!skip(']')) {
            do {
                items.add(value());
                space();
            } while (skip(','));
            if (!skip(']')) throw wrong("an array without end");
        }
        depth--;
        return items;
    }

    private String string() throws MalformedException {
        int start = ++at;
        while (at < text.length() && text.charAt(at) != '"' && text.charAt(at) != '\\' && text.charAt(at) >= ' ') at++;
        if (at < text.length() && text.charAt(at) == '"') return text.substring(start, at++);
        StringBuilder built = new StringBuilder(text.substring(start, at));
        for (char c = next(); c != '"'; c = next()) {
            if (c < ' ') throw wrong("a control character in a string");
            built.append(c == '\\' ? escaped() : c);
        }
        // What came in escapes has not been through the decoder.
        if (!isWhole(built.toString())) throw wrong("half of a surrogate pair");
        return built.toString();
    }

    private char escaped() throws MalformedException {
        char c = next();
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> {
                int code = 0;
                for (int i = 0; i < 4; i++) {
                    char digit = next();
                    int own = digit < 128 ? Character.digit(digit, 16) : -1;
                    if (own < 0) throw wrong("an incomplete escape");
                    code = code * 16 + own;
                }
                yield (char) code;
            }
            default -> throw wrong("an unknown escape");
        };
    }

    private boolean digits() {
        int start = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') at++;
        return at > start;
    }

    private Number number() throws MalformedException {
        int start = at;
        skip('-');
        if (!skip('0') && !digits()) throw wrong("no value");
        boolean isInteger = true;
        if (skip('.')) {
            isInteger = false;
            if (!digits()) throw wrong("no digit after the point");
        }
        if (skip('e') || skip('E')) {
            isInteger = false;
            if (!skip('+')) skip('-');
            if (!digits()) throw wrong("no digit in the exponent");
        }
        String number = text.substring(start, at);
        if (isInteger && number.length() <= LONG_DIGITS_MAX) return Long.valueOf(number);
        return Double.valueOf(number);
    }

    /** Names and values by turns. Those that are null are left out. */
    public static Map<String, Object> object(Object... members) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < members.length; i += 2) {
            if (members[i + 1] != null) object.put((String) members[i], members[i + 1]);
        }
        return object;
    }

    public static <T> Object encoded(T value, Function<T, ?> encode) {
        return value == null ? null : encode.apply(value);
    }

    public static <T> List<?> list(List<T> items, Function<T, ?> encode) {
        return items.stream().map(encode).toList();
    }

    public static <T> List<T> list(List<T> items) {
        return items;
    }

    public static <T> List<?> listUnlessEmpty(List<T> items, Function<T, ?> encode) {
        return items.isEmpty() ? null : list(items, encode);
    }

    public static <T> List<T> listUnlessEmpty(List<T> items) {
        return items.isEmpty() ? null : items;
    }

    /** Fails with an {@code IllegalArgumentException}, which names the place, on what JSON or UTF-8 does not have. */
    public static byte[] write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out, "", 0);
        return out.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Whether UTF-8 can carry a text: an encoder of the JDK puts another one in place of half of a surrogate pair. */
    public static boolean isWhole(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (!Character.isSurrogate(text.charAt(i))) continue;
            if (i + 1 == text.length() || !Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1))) return false;
            i++;
        }
        return true;
    }

    /** The text. Fails with an {@code IllegalArgumentException}, which names the place, if UTF-8 cannot carry it. */
    public static String whole(String text, String place) {
        if (!isWhole(text)) throw new IllegalArgumentException('"' + place + "\" has half of a surrogate pair");
        return text;
    }

    private static void write(Object value, StringBuilder out, String place, int depth) {
        if (depth > DEPTH_MAX) throw new IllegalArgumentException('"' + place + "\" is nested too deeply");
        if (value == null || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof String text) {
            writeText(whole(text, place), out);
        } else if (value instanceof Number number) {
            writeNumber(number, out, place);
        } else if (value instanceof Instant time) {
            writeText(time.truncatedTo(ChronoUnit.MILLIS).toString(), out);
        } else if (value instanceof Map<?, ?> members) {
            char separator = '{';
            for (Map.Entry<?, ?> member : members.entrySet()) {
                if (!(member.getKey() instanceof String name)) {
                    throw new IllegalArgumentException('"' + place + "\" has a name that is not a string");
                }
                String within = place.isEmpty() ? name : place + "." + name;
                writeText(whole(name, within), out.append(separator));
                write(member.getValue(), out.append(':'), within, depth + 1);
                separator = ',';
            }
            out.append(separator == '{' ? "{}" : "}");
        } else if (value instanceof Iterable<?> items) {
            char separator = '[';
            int index = 0;
            for (Object item : items) {
                write(item, out.append(separator), place + "[" + index++ + "]", depth + 1);
                separator = ',';
            }
            out.append(separator == '[' ? "[]" : "]");
        } else {
            throw foreign(value.getClass().getName(), place);
        }
    }

    private static IllegalArgumentException foreign(String what, String place) {
        return new IllegalArgumentException('"' + place + "\" is " + what + ", which JSON does not have");
    }

    /** Other classes may print numbers in a form that JSON does not have. */
    private static void writeNumber(Number number, StringBuilder out, String place) {
        if (!NUMBERS.contains(number.getClass())) {
            throw foreign(number.getClass().getName(), place);
        }
        boolean isFloat = number instanceof Double || number instanceof Float;
        if (isFloat && !Double.isFinite(number.doubleValue())) throw foreign(number.toString(), place);
        out.append(number);
    }

    private static void writeText(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') out.append('\\').append(c);
            else if (c < ' ') out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        }
        out.append('"');
    }
}
