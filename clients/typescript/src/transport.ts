// Sends calls with a deadline and retries. Invariant: no call is sent more often than its attempts,
// its deadline and the budget of the client allow.

import { RetryBudget } from './budget.ts';
import { Deadline } from './deadline.ts';
import { GrantdError, located, restated } from './error.ts';
import { type Logger, logAttempt } from './log.ts';
import { type KnownOf, knownMembers } from './members.ts';
import { contentOf, JSON_TYPE, parameterOf, sendableHeaders } from './outgoing.ts';
import { connectionLost, type Reply, replyOf, requestIdOf } from './responses.ts';
import { Warnings } from './warnings.ts';

/** A call as a hook sees it. `attempts`, `status` and `requestId` are known when it has ended. */
export interface CallFacts {
  /** The operationId in the OpenAPI document, such as `check`. */
  readonly operation: string;
  readonly method: string;
  readonly url: string;
  attempts: number;
  status: number | undefined;
  requestId: string | undefined;
}

/** Wraps every call, for instance in a span. The headers that it gives are sent with each attempt. */
export type CallHook = <T>(
  call: CallFacts,
  run: (headers?: Readonly<Record<string, string>>) => Promise<T>,
) => Promise<T>;

export interface CallOptions {
  /** For the call with all its retries. */
  readonly timeoutMs?: number | undefined;
  /** Ends the call with the error `cancelled`. */
  readonly signal?: AbortSignal | undefined;
}

const CALL_OPTIONS: KnownOf<CallOptions> = { timeoutMs: true, signal: true };

export interface Call {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The statuses of success. */
  readonly expected: readonly number[];
  /** It has conditions, which its own effect may keep a repeat from meeting. */
  readonly conditional?: boolean;
}

export interface CallReply extends Reply {
  /** Whether an earlier attempt may have taken effect. */
  readonly repeated: boolean;
}

export interface TransportOptions {
  readonly url: string;
  readonly key: string;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly retryBudget: number;
  readonly backoff: { readonly firstMs: number; readonly maxMs: number };
  /** Sent with each request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly hook: CallHook | undefined;
  readonly logger: Logger | undefined;
  readonly onWarning: (warning: string) => void;
}

export function connectionError(cause: unknown): GrantdError {
  return cause instanceof GrantdError ? cause : connectionLost('The connection to the service failed', cause);
}

/** Doublings of a pause; beyond them every bound has been reached. */
const DOUBLINGS_MAX = 31;

/** Whether the attempt that failed like this may have taken effect. */
const mayHaveTakenEffect = ({ type, status }: GrantdError): boolean =>
  type === 'connection-lost' || type === 'invalid-response' || (status >= 500 && type !== 'overloaded');

const isPast = (type: string): boolean => type === 'timeout' || type === 'cancelled';

type AttemptOutcome = Pick<Response, 'status' | 'headers'> | GrantdError;

export class Transport {
  readonly #options: TransportOptions;
  readonly #base: string;
  readonly #budget: RetryBudget;
  readonly #warnings: Warnings;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#base = options.url.replace(/\/+$/, '');
    this.#budget = new RetryBudget(options.retryBudget);
    this.#warnings = new Warnings(options.onWarning);
  }

  get timeoutMs(): number {
    return this.#options.timeoutMs;
  }

  /** Before the given retry, counted from 1: the service's `Retry-After`, and a random time that spreads clients. */
  retryWaitMs(retry: number, { retryAfterS = 0 }: GrantdError): number {
    const { firstMs, maxMs } = this.#options.backoff;
    return retryAfterS * 1000 + Math.random() * Math.min(maxMs, firstMs * 2 ** Math.min(retry - 1, DOUBLINGS_MAX));
  }

  deadline(options: CallOptions): Deadline {
    const { timeoutMs = this.#options.timeoutMs, signal } = knownMembers(options, CALL_OPTIONS, 'options');
    return new Deadline(timeoutMs, signal);
  }

  /** Rejects at once if the caller cancels. */
  async pause(durationMs: number, { signal }: CallOptions): Promise<void> {
    // The deadline is only for the signal.
    const deadline = this.deadline({ timeoutMs: Number.POSITIVE_INFINITY, signal });
    try {
      await deadline.wait(durationMs);
    } finally {
      deadline.close();
    }
  }

  async send(call: Call, options: CallOptions = {}): Promise<CallReply> {
    const deadline = this.deadline(options);
    try {
      return await this.sendWithin(call, deadline);
    } finally {
      deadline.close();
    }
  }

  /** For several calls under one deadline. */
  async sendWithin(call: Call, deadline: Deadline): Promise<CallReply> {
    const facts: CallFacts = {
      operation: call.operation,
      method: call.method,
      url: this.urlOf(call),
      attempts: 0,
      status: undefined,
      requestId: undefined,
    };
    const run = (headers: Readonly<Record<string, string>> = {}) =>
      this.#repeat(call, facts, deadline, headers).catch((error: unknown) => {
        throw located(connectionError(error), this.requestOf(call));
      });
    return this.#options.hook === undefined ? run() : this.#options.hook(facts, run);
  }

  /** One request, without any retry. Rejects with a GrantdError if there is no response. */
  async request(
    call: Pick<Call, 'method' | 'path' | 'query' | 'body' | 'headers'>,
    deadline: Deadline,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const { fetch: fetchIt } = this.#options;
    // What cannot be sent is no lost connection.
    const [body, contentType] = call.body === undefined ? [] : contentOf(call.body);
    const url = this.urlOf(call);
    const all = this.#headersOf(call, sendableHeaders(headers), contentType);
    try {
      const response = await deadline.bound(
        fetchIt(url, {
          method: call.method,
          headers: all,
          ...(body === undefined ? {} : { body }),
          // A redirection would carry the key elsewhere, or turn a POST into a GET.
          redirect: 'manual',
          signal: deadline.signal,
        }),
      );
      this.#warnings.showIn(response.headers);
      return response;
    } catch (error) {
      throw connectionError(error);
    }
  }

  /** Those of the call win over those of the hook, and they over those of the application. */
  #headersOf(
    call: Pick<Call, 'headers'>,
    ofHook: Readonly<Record<string, string>>,
    contentType: string | undefined,
  ): Headers {
    const headers = new Headers(this.#options.headers);
    const own = {
      accept: JSON_TYPE,
      'accept-encoding': 'identity',
      ...call.headers,
      authorization: `Bearer ${this.#options.key}`,
    };
    for (const [name, value] of Object.entries({ ...ofHook, ...own })) headers.set(name, value);
    if (contentType !== undefined) headers.set('content-type', contentType);
    return headers;
  }

  /** The member `request` of a GrantdError. */
  requestOf({ method, path }: Pick<Call, 'method' | 'path'>): string {
    return `${method} ${this.#base}${path}`;
  }

  /** Writes an entry of the log for one attempt, which has begun at a time of `performance.now`. */
  log(
    call: Pick<Call, 'operation' | 'method' | 'path'>,
    attempt: number,
    startMs: number,
    ending: AttemptOutcome,
  ): void {
    const { operation, method, path } = call;
    const outcome = 'headers' in ending ? { status: ending.status, requestId: requestIdOf(ending.headers) } : ending;
    logAttempt(this.#options.logger, { operation, method, path, attempt, startMs }, outcome);
  }

  urlOf({ path, query = {} }: Pick<Call, 'path' | 'query'>): string {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) parameters.set(name, parameterOf(value, name));
    const text = parameters.toString();
    return `${this.#base}${path}${text === '' ? '' : `?${text}`}`;
  }

  async #repeat(
    call: Call,
    facts: CallFacts,
    deadline: Deadline,
    headers: Readonly<Record<string, string>>,
  ): Promise<CallReply> {
    this.#budget.countCall();
    let repeated = false;
    for (;;) {
      facts.attempts += 1;
      const startMs = performance.now();
      try {
        const reply = await this.#attempt(call, deadline, headers);
        this.log(call, facts.attempts, startMs, reply);
        facts.status = reply.status;
        facts.requestId = reply.requestId;
        return { ...reply, repeated };
      } catch (thrown) {
        const error = connectionError(thrown);
        this.log(call, facts.attempts, startMs, error);
        facts.status = error.status;
        facts.requestId = error.requestId;
        if (!(await this.#mayRepeat(error, facts.attempts, deadline))) throw finalError(error, call, repeated);
        repeated ||= mayHaveTakenEffect(error);
      }
    }
  }

  async #attempt(call: Call, deadline: Deadline, headers: Readonly<Record<string, string>>): Promise<Reply> {
    const response = await this.request(call, deadline, headers);
    return await deadline.bound(replyOf(response, call.expected, this.requestOf(call), call.headers?.accept));
  }

  /** Waits as long as it has to. */
  async #mayRepeat(error: GrantdError, attempts: number, deadline: Deadline): Promise<boolean> {
    if (!error.retryable || isPast(error.type) || attempts > this.#options.maxRetries) return false;
    const waitMs = this.retryWaitMs(attempts, error);
    if (performance.now() + waitMs >= deadline.endMs || !this.#budget.takeRetry()) return false;
    return await deadline.wait(waitMs);
  }
}

function finalError(error: GrantdError, { conditional = false }: Call, repeated: boolean): GrantdError {
  if (error.type !== 'precondition-failed' || !conditional || !repeated) return error;
  const detail = `An earlier attempt of this call may have taken effect: read before you write again. ${error.detail}`;
  return restated(error, 'outcome-unknown', detail);
}
