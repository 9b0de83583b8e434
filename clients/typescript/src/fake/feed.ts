// The change feed of the fake: pages, and streams of lines that stay open.

import type { Change } from '../generated/schemas.ts';
import { type FakeOperation, type FakeRequest, ok } from './operation.ts';
import { feedCursorOf, feedPlaceOf } from './pages.ts';
import { invalidRequest } from './problem.ts';
import type { FakeState } from './state.ts';
import { limitIn, namespaceOf } from './values.ts';

const ACTIONS: ReadonlySet<string> = new Set([
  'grant.created',
  'grant.updated',
  'grant.revoked',
  'grant.expired',
  'namespace.created',
  'rules.updated',
]);

function filterOf(query: URLSearchParams): (change: Change) => boolean {
  const [namespace, relation, action] = [query.get('namespace'), query.get('relation'), query.get('action')];
  const actions = action?.split(',');
  const unknown = actions?.find((each) => !ACTIONS.has(each));
  if (unknown !== undefined) throw invalidRequest(`"action" names no action: ${unknown}.`);
  return (change) => {
    if (actions !== undefined && !actions.includes(change.action)) return false;
    if (change.rules !== undefined) return true;
    const ofNamespace = change.grant === undefined ? change.namespace?.name : namespaceOf(change.grant.object);
    if (namespace !== null && ofNamespace !== namespace) return false;
    return relation === null || change.grant?.relation === relation;
  };
}

/** How many of the changes come before where the query begins. */
function startOf({ changes }: FakeState, query: URLSearchParams): number {
  const [cursor, since] = [query.get('cursor'), query.get('since')];
  if (cursor !== null && since !== null) throw invalidRequest('"cursor" and "since" exclude each other.');
  if (cursor !== null) return feedPlaceOf(cursor);
  if (since === 'now') return changes.length;
  if (since === null) return 0;
  const sinceMs = Date.parse(since);
  if (Number.isNaN(sinceMs)) throw invalidRequest('"since" must be a time, or now.');
  const first = changes.findIndex(({ at }) => Date.parse(at) >= sinceMs);
  return first < 0 ? changes.length : first;
}

function page(state: FakeState, query: URLSearchParams) {
  const passes = filterOf(query);
  const limit = limitIn(query);
  const found: Change[] = [];
  let place = startOf(state, query);
  for (; place < state.changes.length && found.length < limit; place += 1) {
    const change = state.changes[place];
    if (change !== undefined && passes(change)) found.push(change);
  }
  return ok({ changes: found, next_cursor: feedCursorOf(place) });
}

function stream({ state, query, signal }: FakeRequest): ReadableStream<Uint8Array> {
  const passes = filterOf(query);
  const encoder = new TextEncoder();
  let place = startOf(state, query);
  let end = (): void => {};
  return new ReadableStream({
    start(controller) {
      const send = (): void => {
        for (; place < state.changes.length; place += 1) {
          const change = state.changes[place];
          if (change === undefined || !passes(change)) continue;
          const line = { type: 'change', cursor: feedCursorOf(place + 1), change };
          controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
        }
      };
      const stop = state.follow(send);
      end = (): void => {
        stop();
        signal?.removeEventListener('abort', onAbort);
      };
      const onAbort = (): void => {
        end();
        controller.error(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      send();
    },
    cancel: () => end(),
  });
}

const listChanges: FakeOperation = {
  scope: 'check:read',
  answer(request) {
    if (request.headers.get('accept') !== 'application/x-ndjson') return page(request.state, request.query);
    return { status: 200, headers: { 'content-type': 'application/x-ndjson' }, stream: stream(request) };
  },
};

export const FEED_OPERATIONS: Readonly<Record<string, FakeOperation>> = { 'GET /v1/changes': listChanges };
