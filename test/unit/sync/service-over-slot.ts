// The public operations over a slot, as a client sees them: JSON in, JSON out, without a network and a front between.

import { ERROR_CATALOGUE, GrantdError } from '../../../src/core/errors.ts';
import { changesPageOf, feedQueryOf } from '../../../src/front/feeds/feeds.ts';
import type { TenantSession } from '../../../src/front/front.ts';
import { OPERATIONS } from '../../../src/http/operation-table.ts';
import type { OperationHeaders } from '../../../src/http/operations/operation.ts';
import type { TenantMethods } from '../../kit/shard-methods.ts';

/** Whose calls are made, and where. */
export interface ServedTenant {
  readonly connection: TenantMethods;
  readonly handle: number;
}

const CONTEXT = { requestId: 'req_00000000000000000000000000', deadlineMs: Number.POSITIVE_INFINITY };

function sessionOf({ connection, handle }: ServedTenant): TenantSession {
  return {
    call: (name: 'readSets', _context: unknown, request: never) => connection.call(name, { handle }, request),
    readChanges: async (_context: unknown, query: Parameters<TenantSession['readChanges']>[1]) =>
      changesPageOf(await connection.readChanges(handle, feedQueryOf(query))),
  } as unknown as TenantSession;
}

export interface ServedResponse {
  readonly status: number;
  readonly text: string;
  /** The cursor of the change feed. */
  readonly feed: string | undefined;
}

function problemOf({ code, message }: GrantdError): ServedResponse {
  const { httpStatus: status } = ERROR_CATALOGUE[code];
  const type = `https://grantd.test/errors/${code}`;
  return { status, text: JSON.stringify({ type, title: code, status, detail: message }), feed: undefined };
}

export class ServiceOverSlot {
  readonly #tenant: () => ServedTenant;
  readonly #change: (url: URL) => void;

  /** `change`: of a request, before it is read; a `GrantdError` refuses it. */
  constructor(tenant: () => ServedTenant, change: (url: URL) => void) {
    this.#tenant = tenant;
    this.#change = change;
  }

  /** No page of changes waits. */
  async answer(method: string, address: string, body?: unknown): Promise<ServedResponse> {
    const url = new URL(address, 'http://grantd.test');
    const operation = OPERATIONS.find((each) => each.method === method && each.path === url.pathname);
    if (operation === undefined) throw new Error(`There is no ${method} ${url.pathname}.`);
    try {
      this.#change(url);
      url.searchParams.delete('wait');
      const headers: OperationHeaders = {};
      const query = Object.fromEntries(url.searchParams);
      const open = { onceClosed: () => undefined, waitedMs: 0 };
      const request = { body, query, pathParameters: {}, headers, open };
      const reply = await operation.answer(sessionOf(this.#tenant()), { ...CONTEXT, ...open }, request, {} as never);
      if (!('json' in reply)) throw new Error(`${method} ${url.pathname} is a stream.`);
      const { json, status, feedCursor: feed } = reply;
      return { status, text: typeof json === 'string' ? json : json(), feed };
    } catch (error) {
      if (error instanceof GrantdError) return problemOf(error);
      throw error;
    }
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const { method = 'GET', body } = init ?? {};
    const given = typeof body === 'string' ? JSON.parse(body) : undefined;
    const { status, text, feed } = await this.answer(method, String(input), given);
    return new Response(text, { status, headers: feed === undefined ? {} : { 'X-Service-Cursor': feed } });
  };
}
