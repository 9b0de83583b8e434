// A grantd in memory, for tests: the same client, with a fetch function in place of the service. Invariant: it keeps
// the contract of the clients, so a test that passes with it passes with a healthy service.

import { Grantd, type GrantdOptions } from './exports.ts';
import { ACCESS_OPERATIONS } from './fake/access.ts';
import { ADMINISTRATION } from './fake/administration.ts';
import { FEED_OPERATIONS } from './fake/feed.ts';
import { GRANT_OPERATIONS } from './fake/grants.ts';
import type { FakeOperation, FakeResponse } from './fake/operation.ts';
import { invalidRequest, Refusal } from './fake/problem.ts';
import { type FakeKey, FakeState, newId } from './fake/state.ts';

const OPERATIONS: Readonly<Record<string, FakeOperation>> = {
  ...GRANT_OPERATIONS,
  ...ACCESS_OPERATIONS,
  ...ADMINISTRATION,
  ...FEED_OPERATIONS,
};

const URL_OF_FAKE = 'http://grantd.invalid';

function operationOf(method: string, path: string): { operation: FakeOperation; id: string } {
  const operation = OPERATIONS[`${method} ${path}`];
  if (operation !== undefined) return { operation, id: '' };
  const end = path.lastIndexOf('/') + 1;
  const ofItem = OPERATIONS[`${method} ${path.slice(0, end)}`];
  if (ofItem === undefined) throw new Refusal(404, 'not-found', 'There is nothing at this path.');
  return { operation: ofItem, id: decodeURIComponent(path.slice(end)) };
}

function bodyOf(body: unknown): unknown {
  if (typeof body !== 'string') return undefined;
  try {
    return JSON.parse(body);
  } catch {
    throw invalidRequest('The body is not JSON.');
  }
}

function refusalResponse(error: unknown, requestId: string): Response {
  if (!(error instanceof Refusal)) throw error;
  const { status, type, message: detail, members } = error;
  const problem = {
    type: `${URL_OF_FAKE}/errors/${type}`,
    title: type,
    status,
    detail,
    instance: requestId,
    ...members,
  };
  const headers = { 'content-type': 'application/problem+json', 'x-service-request-id': requestId };
  return new Response(JSON.stringify(problem), { status, headers });
}

function responseOf({ status, body, headers, stream }: FakeResponse, requestId: string): Response {
  const content = stream ?? (body === undefined ? null : JSON.stringify(body));
  const all = { 'x-service-request-id': requestId, 'content-type': 'application/json', ...headers };
  return new Response(content, { status, headers: all });
}

/** One tenant. Nothing is shared between two of them. */
export class FakeGrantd {
  readonly #state = new FakeState();
  readonly #key: FakeKey;

  constructor() {
    this.#key = this.#state.createKey('fake', ['check:read', 'grant:write', 'admin'], null);
  }

  /** For `new Grantd(…)`: the key has all scopes. */
  get options(): GrantdOptions & { readonly url: string; readonly key: string; readonly fetch: typeof fetch } {
    return { url: URL_OF_FAKE, key: this.#key.text, fetch: this.fetch };
  }

  /** A client of this fake. */
  client(options: Partial<GrantdOptions> = {}): Grantd {
    return new Grantd({ ...this.options, ...options });
  }

  /** Takes the place of the global function. Only requests of the client are understood. */
  readonly fetch: typeof fetch = async (input, init = {}) => {
    const requestId = newId('req');
    try {
      init.signal?.throwIfAborted();
      const { pathname, searchParams } = new URL(String(input));
      const headers = new Headers(init.headers);
      const { operation, id } = operationOf(init.method ?? 'GET', pathname);
      const actor = this.#authenticate(headers, operation);
      const answer = operation.answer({
        state: this.#state,
        query: searchParams,
        headers,
        body: bodyOf(init.body),
        actor: { keyId: actor.key_id, requestId },
        id,
        signal: init.signal ?? undefined,
      });
      return responseOf(answer, requestId);
    } catch (error) {
      return refusalResponse(error, requestId);
    }
  };

  #authenticate(headers: Headers, { scope }: FakeOperation): FakeKey {
    const [, text = ''] = /^Bearer (.*)$/.exec(headers.get('authorization') ?? '') ?? [];
    const key = this.#state.keyOfText(text);
    if (key === undefined) throw new Refusal(401, 'unauthorized', 'The API key is unknown, expired or revoked.');
    if (scope !== undefined && !key.scopes.includes(scope)) {
      throw new Refusal(403, 'insufficient-scope', `The API key does not have the scope ${scope}.`);
    }
    return key;
  }
}
