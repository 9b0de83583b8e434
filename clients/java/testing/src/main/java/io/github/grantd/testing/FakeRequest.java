// A request as it reaches the fake.

package io.github.grantd.testing;

import io.github.grantd.internal.Json;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpHeaders;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
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

    /** Strictly: the decoder for URLs would take what is not UTF-8 for U+FFFD. */
    private static String decoded(String text) {
        byte[] bytes = URLDecoder.decode(text, StandardCharsets.ISO_8859_1).getBytes(StandardCharsets.ISO_8859_1);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw Problem.invalidRequest("The path or the query is not UTF-8.");
        }
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
