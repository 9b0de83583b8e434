package io.github.grantd;

import java.util.LinkedHashMap;
import java.util.Map;

/** One call of the API, with all its retries, as a {@link CallHook} sees it. */
public final class Call {
    private final String operation;
    private final Map<String, String> headers = new LinkedHashMap<>();

    Call(String operation) {
        this.operation = operation;
    }

    /**
     * The id of the operation in the OpenAPI file, such as {@code checkBulk}.
     *
     * @return the operation
     */
    public String operation() {
        return operation;
    }

    /**
     * Sends a header with each attempt: a place for {@code traceparent}.
     *
     * @param name none of those that the client sets itself
     * @param value in printable ASCII
     * @throws IllegalArgumentException if the header may not be sent
     */
    public void header(String name, String value) {
        Headers.check(name, value);
        headers.put(name, value);
    }

    Map<String, String> headers() {
        return headers;
    }
}
