// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

/**
 * Where the search goes on.
 *
 * @param nextToken The {@code page.token} of the next request; empty at the end.
 * @param count Results in this page.
 */
public record PageInfo(String nextToken, long count) {
    static PageInfo decode(Object value) {
        Fields fields = Fields.of(value);
        return new PageInfo(
            fields.required("next_token", Fields::text),
            fields.required("count", Fields::integer));
    }
}
