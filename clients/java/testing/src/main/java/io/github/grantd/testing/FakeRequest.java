// A request as it reaches the fake.

package io.github.grantd.testing;

import io.github.grantd.internal.Json;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

record FakeRequest(String id, String method, URI uri, HttpHeaders headers, byte[] bytes) {
    String header(String name) {
        return headers.firstValue(name).orElse(null);
    }

    boolean hasBody() {
        return bytes.length > 0;
    }

    String text() {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    Map<String, Object> body() {
        if (!hasBody()) return Map.of();
        try {
            if (Json.parse(bytes) instanceof Map<?, ?> members) return Requests.object(members);
        } catch (Json.MalformedException e) {
            // Refused below.
        }
        throw Problem.invalidRequest("The body is no JSON object.");
    }

    String lastSegment() {
        String path = uri.getRawPath();
        return decoded(path.substring(path.lastIndexOf('/') + 1));
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    /** The parameters, each of which must be one of these, and given once. */
    Map<String, Object> query(String... names) {
        Map<String, Object> read = new HashMap<>();
        if (uri.getRawQuery() == null) return read;
        for (String pair : uri.getRawQuery().split("&")) {
            String[] parts = pair.split("=", 2);
            String name = decoded(parts[0]);
            if (!Arrays.asList(names).contains(name) || read.containsKey(name)) {
                throw Problem.invalidRequest("The query parameter \"" + name + "\" is unknown or repeated.");
            }
            read.put(name, parts.length == 1 ? "" : decoded(parts[1]));
        }
        return read;
    }
}
