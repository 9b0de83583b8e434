// A request of the API, and a response to it whose status is one of those that the API promises.

package io.github.grantd;

import io.github.grantd.internal.Json;
import java.net.URLEncoder;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** `body`: rules as text if it is a string, otherwise JSON; null: none. `isConditional`: a repeat may fail because of the effect of the first attempt. */
record Request(
    String operation,
    String method,
    String path,
    Map<String, String> query,
    Map<String, String> headers,
    Object body,
    Set<Integer> accepts,
    boolean isConditional) {
    static final String JSON = "application/json";
    static final String RULES_TEXT = "text/vnd.grantd.rules";

    /** `value`: parsed JSON, or the text that was asked for; null if there is no body. */
    record Response(int status, HttpHeaders headers, Object value) {}

    static Request get(String operation, String path, Map<String, String> query) {
        return new Request(operation, "GET", path, query, Map.of(), null, Set.of(200), false);
    }

    static Request post(String operation, String path, Object body) {
        return new Request(operation, "POST", path, Map.of(), Map.of(), body, Set.of(200), false);
    }

    static Request put(String operation, String path, Map<String, String> query, Object body) {
        return new Request(operation, "PUT", path, query, Map.of(), body, Set.of(200), false);
    }

    static Request delete(String operation, String path, Map<String, String> query) {
        return new Request(operation, "DELETE", path, query, Map.of(), null, Set.of(204), false);
    }

    /** A GET with a query, or with a context the same as a POST. */
    static Request listing(String operation, String path, Map<String, Object> members, CallContext with) {
        if (with.isEmpty()) {
            Map<String, String> query = new LinkedHashMap<>();
            members.forEach((name, value) -> query.put(name, value.toString()));
            return get(operation, path, query);
        }
        members.putAll(with.toJson());
        return post(operation + "InContext", path, members);
    }

    Request accepting(Integer... statuses) {
        return new Request(operation, method, path, query, headers, body, Set.of(statuses), isConditional);
    }

    Request withHeader(String name, String value) {
        return new Request(operation, method, path, query, Map.of(name, value), body, accepts, isConditional);
    }

    /** The media type of a success. */
    String accept() {
        return headers.getOrDefault("Accept", JSON);
    }

    Request conditionalIf(boolean conditional) {
        return new Request(operation, method, path, query, headers, body, accepts, conditional);
    }

    /** Names and values by turns. Those that are null are left out. */
    static Map<String, String> query(Object... pairs) {
        Map<String, String> query = new LinkedHashMap<>();
        Json.object(pairs).forEach((name, value) -> query.put(name, value.toString()));
        return query;
    }

    /** One parameter for several items, or null. A comma would make two of an item, and an empty one none, which means all. */
    static String items(String name, List<String> items) {
        for (int i = 0; i < items.size(); i++) {
            if (!items.get(i).isEmpty() && !items.get(i).contains(",")) continue;
            throw GrantdException.of(Failure.invalidRequest("\"" + name + "[" + i + "]\" is empty or has a comma"));
        }
        return items.isEmpty() ? null : String.join(",", items);
    }

    /** For a path or a query. Fails with an IllegalArgumentException on what would become another text. */
    static String encoded(String text, String place) {
        return URLEncoder.encode(Json.whole(text, place), StandardCharsets.UTF_8).replace("+", "%20");
    }

    String pathAndQuery() {
        if (query.isEmpty()) return path;
        return query.entrySet().stream()
            .map(each -> each.getKey() + "=" + encoded(each.getValue(), each.getKey()))
            .collect(Collectors.joining("&", path + "?", ""));
    }
}
