// The error catalogue: every error that leaves the process has one code here. An entry gives the HTTP status, the gRPC
// status, whether the same call may be repeated, the title and the meaning. The public pages under /errors/, the
// documentation and the OpenAPI file are generated from this table and tested against it both ways.

/** gRPC status numbers (https://grpc.github.io/grpc/core/md_doc_statuscodes.html) that the catalogue uses. */
export type GrpcStatus = 3 | 4 | 5 | 6 | 7 | 8 | 9 | 13 | 14 | 16;

export interface ErrorEntry {
  readonly httpStatus: number;
  readonly grpcStatus: GrpcStatus;
  /** Whether repeating the same call later can succeed without changes by the caller. */
  readonly retryable: boolean;
  /** One line, the same for every occurrence (RFC 9457 section 3.1.3). */
  readonly title: string;
  /** One or two sentences for the public page: when it occurs and what to do. */
  readonly meaning: string;
}

const entry = (
  httpStatus: number,
  grpcStatus: GrpcStatus,
  title: string,
  meaning: string,
  retryable = false,
): ErrorEntry => Object.freeze({ httpStatus, grpcStatus, retryable, title, meaning });

export const ERROR_CATALOGUE = Object.freeze({
  'invalid-subject': entry(
    400,
    3,
    'Invalid subject',
    'The subject is missing, not a string or not of the form namespace:external_id. The namespace starts with a letter and has up to 64 letters, digits, "_", "." or "-"; the external id has 1 to 256 Unicode code points without control characters, white space or lone surrogates. A state is granted with the subject "*", and nothing else is; a check may have that subject, too.',
  ),
  'invalid-relation': entry(
    400,
    3,
    'Invalid relation',
    'The relation is missing or neither one of the built-in relations (owner, admin, manager, editor, commenter, viewer, member, guest, parent) nor one that the rules of the tenant declare under "relations" or "states". Checks and listings also accept the names that rules of the tenant define; such a name is never granted.',
  ),
  'invalid-object': entry(
    400,
    3,
    'Invalid object',
    'The object is missing, not a string or not of the form namespace:external_id. The same rules apply as for the subject.',
  ),
  'invalid-request': entry(
    400,
    3,
    'Invalid request',
    'The request is malformed: JSON that does not parse, bytes that are not UTF-8, a field or query parameter of the wrong shape, an unknown or repeated query parameter, or an ill-formed namespace name. The detail names what and where.',
  ),
  'invalid-condition': entry(
    400,
    3,
    'Invalid condition',
    'The rules of the tenant do not declare the condition of a grant, or its context has a key that the condition does not declare, or a value of another type. The detail names what is allowed. Nothing was changed.',
  ),
  'type-not-allowed': entry(
    400,
    3,
    'Type not allowed',
    'The rules of the tenant have types for this relation on objects of this namespace, and none of them allows a subject of this kind, or the condition of the grant. The detail names what is allowed. Nothing was changed.',
  ),
  'invalid-cursor': entry(
    400,
    3,
    'Invalid cursor',
    'The cursor was not issued by this service for this tenant and this query. Start the listing again without a cursor.',
  ),
  'bulk-too-large': entry(
    400,
    3,
    'Too many elements in one call',
    'A bulk check may contain at most 100 checks, a bulk write at most 100 grants and revocations together and at most 100 conditions, and "context_grants" of a check or listing at most 100 grants. The detail says how many there are. Split the call into several.',
  ),
  unauthorized: entry(
    401,
    16,
    'Unauthorized',
    'The bearer token is missing, malformed, unknown, expired or revoked. Send "Authorization: Bearer <API key>".',
  ),
  'insufficient-scope': entry(
    403,
    7,
    'Insufficient scope',
    'The API key is valid, but does not have the scope that this operation requires. No scope implies another.',
  ),
  'tenant-suspended': entry(403, 7, 'Tenant suspended', 'The operator of the service has suspended this tenant.'),
  'namespace-limit-reached': entry(
    403,
    8,
    'Namespace limit reached',
    'The tenant already has all the namespaces that its plan allows. Nothing was changed.',
  ),
  'key-limit-reached': entry(
    403,
    8,
    'API key limit reached',
    'The tenant already has all the API keys that its plan allows. Nothing was changed. Revoke a key first.',
  ),
  'grant-limit-reached': entry(
    403,
    8,
    'Grant limit reached',
    'The tenant already has all the grants that its plan allows. Nothing was changed. Revoke some grants first.',
  ),
  'grant-not-found': entry(404, 5, 'Grant not found', 'No such grant exists, so there was nothing to revoke.'),
  'key-not-found': entry(404, 5, 'API key not found', 'The tenant has no active API key with this ID.'),
  'rules-version-not-found': entry(
    404,
    5,
    'Version of the rules not found',
    'The rules of the tenant have no version with this number. It has not been written yet, or it is older than the newest 100 versions, which are kept.',
  ),
  'tenant-not-found': entry(404, 5, 'Tenant not found', 'There is no tenant with this ID.'),
  'not-found': entry(404, 5, 'Not found', 'There is nothing at this path.'),
  'method-not-allowed': entry(
    405,
    3,
    'Method not allowed',
    'The path exists, but does not support this method. The Allow header lists the methods it supports.',
  ),
  'already-created': entry(
    409,
    6,
    'Already created',
    'An earlier request with this Idempotency-Key has created the same resource; nothing was created again. The text of an API key is shown only in the response to the first request: if that response was lost, revoke the key that the detail names, and create another with a new Idempotency-Key.',
  ),
  'key-not-rotatable': entry(
    409,
    9,
    'The API key cannot be rotated',
    'Only an active API key can be rotated, and only once. This one was revoked, has expired, or has been rotated before; the detail says which. Create another key instead.',
  ),
  'relation-in-use': entry(
    409,
    9,
    'Relation in use',
    'The new rules no longer declare a relation that still has grants. Nothing was changed. The detail names each such relation and the number of its grants. Revoke them first, or keep the relation.',
  ),
  'condition-in-use': entry(
    409,
    9,
    'Condition in use',
    'The new rules lack a condition that grants carry, or one of its parameters, or give it another type. Nothing was changed. The detail names each such condition and the number of its grants. Revoke them first, or keep the condition.',
  ),
  'grants-outside-types': entry(
    409,
    9,
    'Grants outside the types',
    'The types of the new rules exclude subjects of grants that are stored, or the grants are too many to be compared with the types within a call. Nothing was changed. The detail has the number of these grants and names some of them. Revoke them first, or send "outside_types": "keep" with the rules: then they stay, and count.',
  ),
  'request-timeout': entry(408, 4, 'Request timeout', 'The request did not arrive completely in time.', true),
  'evaluation-too-large': entry(
    422,
    9,
    'Evaluation too large',
    'The answer depends on more groups, parents or grants than one call may follow. The detail names the bound. The service gives no answer rather than a wrong one: make the nesting flatter, or ask about fewer levels.',
  ),
  'evaluation-cyclic': entry(
    422,
    9,
    'Evaluation cyclic',
    'Grants to groups tie a name to its own "but not": who holds it would not hold it. The detail names the circle. The service gives no answer rather than a guess: revoke one of these grants, or forbid them by "types".',
  ),
  'context-incomplete': entry(
    422,
    9,
    'Context incomplete',
    'The answer depends on the condition of a grant, and neither the grant nor the "context" of the request gives all parameters of that condition. The detail names them. The service gives no answer rather than a guess: send them with the request.',
  ),
  'condition-failed': entry(
    422,
    9,
    'Condition failed',
    'The answer depends on the condition of a grant, and its expression fails for the given values, for example because it divides by zero. The detail names the condition and the reason. The service gives no answer rather than a guess.',
  ),
  'too-many-sets': entry(
    422,
    9,
    'Too many sets',
    'The subject is in more groups, and holds names on more containers, than one answer lists: 10,000 sets, or 1 MiB. Name the namespaces of the containers in "deep", for the join and for its sets: then their grants are mirrored and not asked for. A gate on a name of containers has every one of them listed: put it on the name that is listed.',
  ),
  'idempotency-key-reused': entry(
    422,
    9,
    'Idempotency-Key reused',
    'An earlier request with this Idempotency-Key had another body. Nothing was changed. Use a new Idempotency-Key for each resource to create.',
  ),
  'cursor-too-old': entry(
    410,
    9,
    'Cursor too old',
    'The service no longer keeps the changes after this cursor, or since this time. The member "earliest" is the cursor of the oldest change that it keeps. Take a snapshot of the grants before you follow the feed from there.',
  ),
  'precondition-failed': entry(
    412,
    9,
    'Precondition failed',
    'A condition of a bulk write was not met, or the header If-Match of a change of the rules does not name their current revision. Nothing was changed. The detail names the condition. Read the grants, or the rules, again before you decide what to write.',
  ),
  'payload-too-large': entry(
    413,
    3,
    'Payload too large',
    'The body is larger than this operation accepts: 1 MiB for a bulk check or a bulk write, 512 KiB for rules, 64 KiB otherwise.',
  ),
  'unsupported-media-type': entry(
    415,
    3,
    'Unsupported media type',
    'The body must be application/json in UTF-8, without a content encoding.',
  ),
  'rate-limited': entry(
    429,
    8,
    'Rate limited',
    'A rate limit is exhausted: the requests that the plan of the tenant allows in this window, the separate limit of the API key for revoking keys, or the failed authentications from this address. Wait for the number of seconds in Retry-After.',
    true,
  ),
  'too-many-streams': entry(
    429,
    8,
    'Too many streams',
    'The tenant already has as many streams of changes at this front as its plan allows, or the front has as many as it can serve. Requests that wait for changes count as streams. Close one, or try again after the number of seconds in Retry-After.',
    true,
  ),
  'not-acceptable': entry(
    406,
    3,
    'Not acceptable',
    'The Accept header excludes every media type of the response. The change feed has application/json, application/x-ndjson and text/event-stream; every other response is application/json.',
  ),
  'header-fields-too-large': entry(431, 3, 'Header fields too large', 'The header of the request exceeds 16 KiB.'),
  internal: entry(
    500,
    13,
    'Internal error',
    'An unexpected error occurred in the service. Its log contains the error under the request ID.',
  ),
  unavailable: entry(
    503,
    14,
    'Unavailable',
    'The service cannot answer right now. Either nothing was done, or the outcome of a write is not known. Repeating the call is safe, except for POST /v1/keys without an Idempotency-Key: a repeated call may create a second key, so check GET /v1/keys first.',
    true,
  ),
  overloaded: entry(
    503,
    14,
    'Overloaded',
    'The service has more work than it can handle. Nothing was changed; retry later.',
    true,
  ),
} satisfies Record<string, ErrorEntry>);

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** Errors of every operation that evaluates rules. */
export const EVALUATION_ERRORS = [
  'evaluation-too-large',
  'evaluation-cyclic',
  'context-incomplete',
  'condition-failed',
] as const satisfies readonly ErrorCode[];

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERROR_CATALOGUE, text);
}

export interface GrantdErrorOptions {
  /** Safe to publish: names the field, header or bound. Never a secret, never another tenant's data. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
  /** Logged, never sent. */
  readonly cause?: unknown;
}

/** The one error class. `message` is safe to publish. */
export class GrantdError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, string | number | boolean>>;

  constructor(code: ErrorCode, message: string, options: GrantdErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'GrantdError';
    this.code = code;
    this.details = options.details ?? {};
  }

  get retryable(): boolean {
    return ERROR_CATALOGUE[this.code].retryable;
  }

  /** Any thrown value as a GrantdError; an unknown value becomes `internal`, with the original as its cause. */
  static from(error: unknown): GrantdError {
    if (error instanceof GrantdError) return error;
    return new GrantdError('internal', 'An unexpected error occurred.', { cause: error });
  }
}
