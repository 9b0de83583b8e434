// Generated from docs/reference/openapi.json by "npm run generate -- types". Do not edit.

package io.github.grantd;

/** The types of errors that this version of the service knows. Later versions may add some. */
public final class ErrorTypes {
    private ErrorTypes() {}

    /** {@code invalid-subject}. */
    public static final String INVALID_SUBJECT = "invalid-subject";

    /** {@code invalid-relation}. */
    public static final String INVALID_RELATION = "invalid-relation";

    /** {@code invalid-object}. */
    public static final String INVALID_OBJECT = "invalid-object";

    /** {@code invalid-request}. */
    public static final String INVALID_REQUEST = "invalid-request";

    /** {@code invalid-condition}. */
    public static final String INVALID_CONDITION = "invalid-condition";

    /** {@code type-not-allowed}. */
    public static final String TYPE_NOT_ALLOWED = "type-not-allowed";

    /** {@code invalid-cursor}. */
    public static final String INVALID_CURSOR = "invalid-cursor";

    /** {@code bulk-too-large}. */
    public static final String BULK_TOO_LARGE = "bulk-too-large";

    /** {@code unauthorized}. */
    public static final String UNAUTHORIZED = "unauthorized";

    /** {@code insufficient-scope}. */
    public static final String INSUFFICIENT_SCOPE = "insufficient-scope";

    /** {@code tenant-suspended}. */
    public static final String TENANT_SUSPENDED = "tenant-suspended";

    /** {@code namespace-limit-reached}. */
    public static final String NAMESPACE_LIMIT_REACHED = "namespace-limit-reached";

    /** {@code key-limit-reached}. */
    public static final String KEY_LIMIT_REACHED = "key-limit-reached";

    /** {@code grant-limit-reached}. */
    public static final String GRANT_LIMIT_REACHED = "grant-limit-reached";

    /** {@code grant-not-found}. */
    public static final String GRANT_NOT_FOUND = "grant-not-found";

    /** {@code key-not-found}. */
    public static final String KEY_NOT_FOUND = "key-not-found";

    /** {@code rules-version-not-found}. */
    public static final String RULES_VERSION_NOT_FOUND = "rules-version-not-found";

    /** {@code tenant-not-found}. */
    public static final String TENANT_NOT_FOUND = "tenant-not-found";

    /** {@code not-found}. */
    public static final String NOT_FOUND = "not-found";

    /** {@code method-not-allowed}. */
    public static final String METHOD_NOT_ALLOWED = "method-not-allowed";

    /** {@code already-created}. */
    public static final String ALREADY_CREATED = "already-created";

    /** {@code key-not-rotatable}. */
    public static final String KEY_NOT_ROTATABLE = "key-not-rotatable";

    /** {@code relation-in-use}. */
    public static final String RELATION_IN_USE = "relation-in-use";

    /** {@code condition-in-use}. */
    public static final String CONDITION_IN_USE = "condition-in-use";

    /** {@code grants-outside-types}. */
    public static final String GRANTS_OUTSIDE_TYPES = "grants-outside-types";

    /** {@code request-timeout}. */
    public static final String REQUEST_TIMEOUT = "request-timeout";

    /** {@code evaluation-too-large}. */
    public static final String EVALUATION_TOO_LARGE = "evaluation-too-large";

    /** {@code evaluation-cyclic}. */
    public static final String EVALUATION_CYCLIC = "evaluation-cyclic";

    /** {@code context-incomplete}. */
    public static final String CONTEXT_INCOMPLETE = "context-incomplete";

    /** {@code condition-failed}. */
    public static final String CONDITION_FAILED = "condition-failed";

    /** {@code too-many-sets}. */
    public static final String TOO_MANY_SETS = "too-many-sets";

    /** {@code idempotency-key-reused}. */
    public static final String IDEMPOTENCY_KEY_REUSED = "idempotency-key-reused";

    /** {@code cursor-too-old}. */
    public static final String CURSOR_TOO_OLD = "cursor-too-old";

    /** {@code precondition-failed}. */
    public static final String PRECONDITION_FAILED = "precondition-failed";

    /** {@code payload-too-large}. */
    public static final String PAYLOAD_TOO_LARGE = "payload-too-large";

    /** {@code unsupported-media-type}. */
    public static final String UNSUPPORTED_MEDIA_TYPE = "unsupported-media-type";

    /** {@code rate-limited}. */
    public static final String RATE_LIMITED = "rate-limited";

    /** {@code too-many-streams}. */
    public static final String TOO_MANY_STREAMS = "too-many-streams";

    /** {@code not-acceptable}. */
    public static final String NOT_ACCEPTABLE = "not-acceptable";

    /** {@code header-fields-too-large}. */
    public static final String HEADER_FIELDS_TOO_LARGE = "header-fields-too-large";

    /** {@code internal}. */
    public static final String INTERNAL = "internal";

    /** {@code unavailable}. */
    public static final String UNAVAILABLE = "unavailable";

    /** {@code overloaded}. */
    public static final String OVERLOADED = "overloaded";
}
