// Ids, times and the order of texts, as the service has them.

package io.github.grantd.testing;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.stream.Collectors;

final class Values {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final String CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";
    private static final String BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    private static final DateTimeFormatter TIME =
        DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

    /** Ascending by bytes. */
    static final Comparator<String> ORDER = (a, b) ->
        Arrays.compareUnsigned(a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));

    private Values() {}

    static String newId(String prefix) {
        return prefix + "_" + random(CROCKFORD, 26);
    }

    static String newKey() {
        return "gk1_" + random(BASE_62, 81);
    }

    private static String random(String alphabet, int length) {
        return RANDOM.ints(length, 0, alphabet.length())
            .mapToObj(index -> alphabet.substring(index, index + 1))
            .collect(Collectors.joining());
    }

    /** Null stays null. */
    static String timeText(Instant at) {
        return at == null ? null : TIME.format(at);
    }

    static String digest(byte[] text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text), 0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    static String namespaceOf(String identifier) {
        return identifier.split(":", 2)[0];
    }
}
