// Hints of the service for developers, which come in a header. The client logs each text at most once, with nothing but
// the header.

package io.github.grantd;

import java.net.http.HttpHeaders;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;

final class Warnings {
    /** Bounds the log and the memory if every text differs. */
    private static final int TEXTS_MAX = 100;
    /** Printable ASCII, which any log shows as it is. */
    private static final Pattern TEXT = Pattern.compile("[ -~]{1,1024}");

    private final Set<String> logged = new HashSet<>();

    /** The warnings of a response, if they have not been logged; else null. */
    String unlogged(HttpHeaders headers) {
        String text = String.join(", ", headers.allValues("X-Service-Warning"));
        return TEXT.matcher(text).matches() && remember(text) ? text : null;
    }

    private synchronized boolean remember(String text) {
        return logged.size() < TEXTS_MAX && logged.add(text);
    }
}
