// The one error of the client. Invariant: a call throws nothing but a GrantdError, and no error is a decision.

/** Types that no response has: the client itself raises them. */
export type ClientErrorType = 'timeout' | 'connection-lost' | 'invalid-response' | 'outcome-unknown' | 'cancelled';

/** The types that grantd 0.2 knows. A later version may add some. */
export type ServiceErrorType =
  | 'invalid-subject'
  | 'invalid-relation'
  | 'invalid-object'
  | 'invalid-request'
  | 'invalid-condition'
  | 'type-not-allowed'
  | 'invalid-cursor'
  | 'bulk-too-large'
  | 'unauthorized'
  | 'insufficient-scope'
  | 'tenant-suspended'
  | 'namespace-limit-reached'
  | 'key-limit-reached'
  | 'grant-limit-reached'
  | 'grant-not-found'
  | 'key-not-found'
  | 'rules-version-not-found'
  | 'tenant-not-found'
  | 'not-found'
  | 'method-not-allowed'
  | 'already-created'
  | 'key-not-rotatable'
  | 'condition-in-use'
  | 'request-timeout'
  | 'evaluation-too-large'
  | 'evaluation-cyclic'
  | 'context-incomplete'
  | 'condition-failed'
  | 'too-many-sets'
  | 'relation-in-use'
  | 'grants-outside-types'
  | 'idempotency-key-reused'
  | 'cursor-too-old'
  | 'precondition-failed'
  | 'payload-too-large'
  | 'unsupported-media-type'
  | 'rate-limited'
  | 'too-many-streams'
  | 'not-acceptable'
  | 'header-fields-too-large'
  | 'internal'
  | 'unavailable'
  | 'overloaded';

/** Completes the known types in an editor, and admits those of later versions. */
export type ErrorType = ServiceErrorType | ClientErrorType | (string & {});

export interface ErrorFacts {
  readonly requestId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly earliest?: string | undefined;
  readonly retryable?: boolean | undefined;
  readonly retryAfterS?: number | undefined;
  readonly request?: string | undefined;
  readonly cause?: unknown;
}

/** What a log as JSON has of an error. */
interface ErrorMembers extends Omit<ErrorFacts, 'cause'> {
  readonly type: ErrorType;
  readonly status: number;
  readonly detail: string;
}

const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);
const RETRYABLE_TYPES: ReadonlySet<string> = new Set(['timeout', 'connection-lost']);

/** Those of other scripts stay. These could forge a line of a log, or change how it is shown. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** With control characters as `\u001b`. */
export const printable = (text: string): string =>
  text.replaceAll(CONTROL, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The lines of a problem about rules, indented: each begins as no entry of a log does. */
const PROBLEM_LINE = /\\u000a {0,2}(?=Line \d|"|And \d)/g;
const printableLines = (text: string): string => printable(text).replaceAll(PROBLEM_LINE, '\n  ');

export class GrantdError extends Error {
  readonly #members: ErrorMembers;
  /** The code, such as `invalid-subject`. Match on it, not on `detail`. */
  declare readonly type: ErrorType;
  /** The HTTP status; 0 without a response. */
  declare readonly status: number;
  /** Whether the same call can succeed later. The client has already retried as its deadline and budget allow. */
  declare readonly retryable: boolean;
  /** From the response; identifies the request in the logs of the service. */
  declare readonly requestId: string | undefined;
  /** For humans. Names the invalid field. */
  declare readonly detail: string;
  /** Set for `already-created`: the API key that exists. */
  declare readonly keyId: string | undefined;
  /** Set for `cursor-too-old`: the cursor of the oldest change that is kept. */
  declare readonly earliest: string | undefined;
  /** The seconds of the header Retry-After. */
  declare readonly retryAfterS: number | undefined;
  /** The method and the URL of the request, without its query. */
  declare readonly request: string | undefined;

  /** The message has the type, the detail, the request and its id. */
  constructor(type: ErrorType, status: number, rawDetail: string, facts: ErrorFacts = {}) {
    const detail = printableLines(rawDetail);
    const place = [facts.request, facts.requestId].filter((each) => each !== undefined).join(', ');
    super(
      `${type}: ${detail}${place === '' ? '' : ` (${place})`}`,
      facts.cause === undefined ? undefined : { cause: facts.cause },
    );
    this.name = 'GrantdError';
    const retryable = facts.retryable ?? (RETRYABLE_STATUSES.has(status) || RETRYABLE_TYPES.has(type));
    const { cause: _, ...others } = facts;
    this.#members = { ...others, type, status, detail, retryable };
    // Node prints the enumerable members of an uncaught error, and these repeat its message.
    for (const [name, value] of Object.entries(this.#members)) Object.defineProperty(this, name, { value });
  }

  /** For logs that are JSON. */
  toJSON(): ErrorMembers {
    return this.#members;
  }
}

/** The same error, which says where its request went. */
export const located = (error: GrantdError, request: string): GrantdError =>
  error.request === undefined
    ? new GrantdError(error.type, error.status, error.detail, { ...error.toJSON(), cause: error.cause, request })
    : error;

/** The same error in other words. */
export const restated = (error: GrantdError, type: ErrorType, detail: string): GrantdError =>
  new GrantdError(type, error.status, detail, {
    ...error.toJSON(),
    cause: error,
    retryable: type === error.type && error.retryable,
  });
