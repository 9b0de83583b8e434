// The service as the commands call it: one request, one response, every failure a CliFailure. It never repeats a call
// by itself; a caller that knows that a repeat is safe does. What a tenant has is under the same paths in both APIs:
// below /v1 with an API key, below /operator/v1/tenants/{id} with the operator's token. So a command of one tenant
// names only what follows, and works with either.

import { boundBody } from '../../../src/core/bounded-body.ts';
import { describeWarnings, WARNING_HEADER } from '../../../src/core/service-warnings.ts';
import { RULES_TEXT_TYPE } from '../../../src/rules/rules-text.ts';
import { CliFailure, ConnectionFailure, ProblemFailure, reasonOf, UNREACHABLE_HINT } from './failures.ts';
import { asRecord, type JsonRecord, parseJson, textOf } from './output/json-view.ts';

/** `public`: the API of applications, with an API key; `operator`: the operator's API, with a token of its own. */
export type ServiceApi = 'public' | 'operator';

export interface ServiceTarget {
  readonly api: ServiceApi;
  readonly url: string;
  /** Goes into the header, and nowhere else. */
  readonly secret: string;
}

const NAMES: Readonly<Record<ServiceApi, string>> = { public: 'API', operator: "operator's API" };
const ROOTS: Readonly<Record<ServiceApi, string>> = { public: '/v1', operator: '/operator/v1' };

export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the root of the client, its parts encoded by `path`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly json?: object;
  readonly ndjson?: string;
  /** Rules in their text form. */
  readonly rulesText?: string;
  /** A content type; `application/json` unless given. */
  readonly accept?: string;
  /** A revision in quotes: the call fails unless what it replaces has it. */
  readonly ifMatch?: string;
  /** Makes the creation of a tenant or key repeatable. */
  readonly idempotencyKey?: string;
}

/** Three times the service's deadline for a request; after that, no response will come. */
const TIMEOUT_MS = 30_000;
/** The longest are pages of 1,000 grants with their conditions: some megabytes. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
export const PROBLEM_BYTES_MAX = 256 * 1024;
/** Distinct warnings that one command prints. */
const WARNINGS_MAX = 20;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** A longer Retry-After is not worth an automatic wait. */
const RETRY_AFTER_MS_MAX = 60_000;

/** The text, unless UTF-8 cannot carry it: a query would have another one in its place. */
function whole(text: string): string {
  if (text.isWellFormed()) return text;
  throw new CliFailure(
    `${JSON.stringify(text)} has half of a surrogate pair: it was cut in the middle of a character.`,
  );
}

/** Part of a path: no dot segment, with which a URL would name what is above it. */
function segment(part: string): string {
  if (part !== '' && part !== '.' && part !== '..') return encodeURIComponent(whole(part));
  throw new CliFailure(`${JSON.stringify(part)} is not an id.`);
}

/** A path of parts, each percent-encoded: path`/tenants/${id}`. */
export function path(texts: TemplateStringsArray, ...parts: readonly string[]): string {
  return texts.map((text, index) => (index < parts.length ? text + segment(parts[index] ?? '') : text)).join('');
}

function retryAfterMs(response: Response): number | undefined {
  const seconds = response.headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(seconds) ? Math.min(Number(seconds) * 1000, RETRY_AFTER_MS_MAX) : undefined;
}

async function problemOf(response: Response, api: ServiceApi): Promise<ProblemFailure> {
  const fallback = {
    status: response.status,
    code: 'no problem document',
    title: `HTTP status ${response.status}`,
    detail: `The response does not come from the ${NAMES[api]} of grantd. Is the address correct?`,
    requestId: response.headers.get('x-service-request-id') ?? '',
  };
  try {
    const problem = asRecord(parseJson(await boundBody(response, PROBLEM_BYTES_MAX).text()));
    const type = textOf(problem, 'type');
    const code = type.slice(type.lastIndexOf('/') + 1);
    const [title, detail] = [textOf(problem, 'title'), textOf(problem, 'detail')];
    return new ProblemFailure({ ...fallback, code, title, detail }, api, retryAfterMs(response));
  } catch {
    return new ProblemFailure(fallback, api, retryAfterMs(response));
  }
}

interface ServiceClientOptions {
  readonly fetch?: typeof fetch;
  readonly timeoutMs?: number;
  readonly onWarning?: (warning: string) => void;
}

export class ServiceClient {
  readonly #target: ServiceTarget;
  readonly #root: string;
  readonly #options: ServiceClientOptions;
  readonly #fetch: typeof fetch;
  readonly #warn: (warning: string) => void;
  readonly #timeoutMs: number;
  /** Each warning is printed once, however many calls a command makes. */
  readonly #warned = new Set<string>();
  /** The tenant whose paths it calls in the operator's API; undefined for all of that API, and with an API key. */
  readonly tenant: string | undefined;

  constructor(target: ServiceTarget, options: ServiceClientOptions = {}, tenant?: string) {
    this.#target = { ...target, url: target.url.replace(/\/+$/, '') };
    this.#options = options;
    this.#fetch = options.fetch ?? fetch;
    this.#warn = options.onWarning ?? (() => undefined);
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.tenant = tenant;
    this.#root = `${this.#target.url}${ROOTS[target.api]}${tenant === undefined ? '' : path`/tenants/${tenant}`}`;
  }

  get api(): ServiceApi {
    return this.#target.api;
  }

  /** For the operator's API: a client for the resources of one tenant. */
  ofTenant(tenant: string): ServiceClient {
    return new ServiceClient(this.#target, this.#options, tenant);
  }

  /** The same, whose warnings go to one listener: each text once. */
  withWarnings(onWarning: (warning: string) => void): ServiceClient {
    return new ServiceClient(this.#target, { ...this.#options, onWarning }, this.tenant);
  }

  /** What a command has to be told beside its arguments to reach the same tenant, for messages. */
  get tenantOption(): string {
    return this.tenant === undefined ? '' : ` --tenant ${this.tenant}`;
  }

  #printWarnings(header: string): void {
    for (const warning of describeWarnings(header)) {
      if (this.#warned.has(warning) || this.#warned.size >= WARNINGS_MAX) continue;
      this.#warned.add(warning);
      this.#warn(warning);
    }
  }

  /**
   * The response with its body not yet read, which may take as long as it likes. Rejects for every status that is not a
   * success.
   */
  async open(request: ServiceRequest, signal?: AbortSignal): Promise<Response> {
    const head = new AbortController();
    const late = setTimeout(() => head.abort(new Error('no response in time')), this.#timeoutMs);
    try {
      return await this.#open(request, signal === undefined ? head.signal : AbortSignal.any([signal, head.signal]));
    } finally {
      clearTimeout(late);
    }
  }

  async #open(request: ServiceRequest, signal: AbortSignal): Promise<Response> {
    const url = new URL(`${this.#root}${request.path}`);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, whole(value));
    }
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#target.secret}` };
    if (request.json !== undefined) headers['Content-Type'] = 'application/json';
    if (request.ifMatch !== undefined) headers['If-Match'] = request.ifMatch;
    if (request.idempotencyKey !== undefined) headers['Idempotency-Key'] = request.idempotencyKey;
    if (request.ndjson !== undefined) headers['Content-Type'] = 'application/x-ndjson';
    if (request.rulesText !== undefined) headers['Content-Type'] = RULES_TEXT_TYPE;
    if (request.accept !== undefined) headers.Accept = request.accept;
    const text = request.ndjson ?? request.rulesText;
    const body = text ?? (request.json === undefined ? null : JSON.stringify(request.json));
    let response: Response;
    try {
      const init = { method: request.method, headers, body, signal, redirect: 'manual' } as const;
      response = await this.#fetch(url, init);
    } catch (error) {
      throw this.#unreachable(error);
    }
    if (REDIRECTS.includes(response.status)) throw await this.#redirected(response);
    if (!response.ok) throw await problemOf(response, this.api);
    this.#printWarnings(response.headers.get(WARNING_HEADER) ?? '');
    return response;
  }

  /** Never followed: the request, and the answer that the caller believes, belong to the address that was named. */
  async #redirected(response: Response): Promise<CliFailure> {
    await response.body?.cancel();
    const to = response.headers.get('location');
    return new CliFailure(
      `${this.#target.url} redirects to ${to === null ? 'another address' : JSON.stringify(to)} (HTTP status ${response.status}), which is not followed: questions and secrets go to the address that was named, and to no other. Does that address name the ${NAMES[this.api]} itself?`,
    );
  }

  #unreachable(cause: unknown): ConnectionFailure {
    const fault = `No response from the ${NAMES[this.api]} at ${this.#target.url}: ${reasonOf(cause)}.`;
    return new ConnectionFailure(fault, { hint: UNREACHABLE_HINT, cause });
  }

  async readText(request: ServiceRequest, signal?: AbortSignal): Promise<string> {
    return (await this.readTagged(request, signal)).text;
  }

  /** The body, the `ETag` without its quotes, and the cursor of the change feed; empty: there is none. */
  async readTagged(
    request: ServiceRequest,
    signal?: AbortSignal,
  ): Promise<{ readonly text: string; readonly tag: string; readonly feed: string }> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const response = await this.open(request, signal === undefined ? timeout : AbortSignal.any([signal, timeout]));
    try {
      const text = await boundBody(response, ANSWER_BYTES_MAX).text();
      const [tag, feed] = ['etag', 'x-service-cursor'].map((name) => response.headers.get(name) ?? '');
      return { text, tag: tag?.replaceAll('"', '') ?? '', feed: feed ?? '' };
    } catch (error) {
      throw this.#unreachable(error);
    }
  }

  /** The JSON object of a response; an empty one for 204. */
  async readJson(request: ServiceRequest, signal?: AbortSignal): Promise<JsonRecord> {
    const text = await this.readText(request, signal);
    return text === '' ? {} : asRecord(parseJson(text));
  }
}
