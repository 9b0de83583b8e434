// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

/**
 * Of {@code excluded_by}: what the grant takes away from the subject.
 *
 * @param name A name that a rule defines.
 * @param object On what. {@code namespace:external_id}, split at the first colon, compared byte for byte. The
 *     namespace starts with a letter and has up to 64 letters, digits, {@code _}, {@code .} or {@code -}; the
 *     external id has 1 to 256 Unicode code points without control characters or white space.
 */
public record ExcludedName(String name, String object) {
    static ExcludedName decode(Object value) {
        Fields fields = Fields.of(value);
        return new ExcludedName(
            fields.required("name", Fields::text),
            fields.required("object", Fields::text));
    }
}
