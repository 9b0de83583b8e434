// Headers that an application adds to requests: well-formed, and none of those that the client needs itself.

package io.github.grantd;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

final class Headers {
    private static final Set<String> OWN = Set.of(
        "accept", "accept-encoding", "authorization", "connection", "content-encoding", "content-length", "content-type",
        "expect", "host", "idempotency-key", "if-match", "if-none-match", "te", "trailer", "transfer-encoding", "upgrade",
        "user-agent");
    private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
    private static final Pattern VALUE = Pattern.compile("(?:[!-~](?:[ -~]*[!-~])?)?");

    private Headers() {}

    static void check(String name, String value) {
        if (name == null || !TOKEN.matcher(name).matches()) {
            throw new IllegalArgumentException("grantd: headers cannot have the name " + shown(name) + ".");
        }
        if (OWN.contains(name.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException("grantd: the client sets the header " + name + " itself.");
        }
        if (value == null || !VALUE.matcher(value).matches()) {
            throw new IllegalArgumentException(
                "grantd: the value of the header " + name + " must be printable ASCII without spaces at its ends.");
        }
    }

    /** A text in the form of an entity tag. */
    static String quoted(String text, String what) {
        if (text == null || !text.chars().allMatch(c -> c > ' ' && c <= '~' && c != '"' && c != '\\')) {
            throw GrantdException.of(Failure.invalidRequest(what + " has characters that it cannot have"));
        }
        return '"' + text + '"';
    }

    private static String shown(String text) {
        return text == null ? "null" : '"' + text.replaceAll("[^ -~]", "?") + '"';
    }
}
