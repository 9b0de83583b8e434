// The trail over the operator's API: its orders, ranges, cursors and the two forms in which it comes.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock, systemRandom } from '../../../src/roles/system.ts';
import { type ConsoleService, startConsole } from '../../support/console-service.ts';
import { assertProblem, callOperator } from '../../support/operator-call.ts';

let service: ConsoleService;
let tenant: string;

const get = (query: string, headers: Record<string, string> = {}) =>
  callOperator(service.url, 'GET', `/tenants/${tenant}/changes${query}`, undefined, headers);

const grant = (object: string) =>
  callOperator(service.url, 'POST', `/tenants/${tenant}/grants`, { subject: 'user:ann', relation: 'viewer', object });

const objectsOf = (changes: readonly { readonly change: { readonly object: string } }[]): readonly string[] =>
  changes.map(({ change }) => change.object);

before(async () => {
  service = await startConsole({ clock: systemClock, random: systemRandom });
  tenant = (await callOperator(service.url, 'POST', '/tenants', { name: 'Acme' })).body.tenant_id;
  for (const object of ['doc:1', 'doc:2', 'doc:3']) await grant(object);
});
after(() => service.close());

test('pages go on with next_cursor, and the last one says where new changes will begin', async () => {
  const { body: first } = await get('?limit=2');
  assert.deepEqual(Object.keys(first), ['changes', 'next_cursor', 'resume_cursor']);
  assert.deepEqual([objectsOf(first.changes), first.resume_cursor], [['doc:1', 'doc:2'], null]);
  const { body: last } = await get(`?cursor=${first.next_cursor}`);
  assert.deepEqual([objectsOf(last.changes), last.next_cursor], [['doc:3'], null]);
  const { body: nothing } = await get(`?cursor=${last.resume_cursor}`);
  assert.deepEqual(nothing.changes, []);
  await grant('doc:4');
  const { body: news } = await get(`?cursor=${nothing.resume_cursor}`);
  assert.deepEqual(objectsOf(news.changes), ['doc:4']);
});

test('newest first, the first page says where new changes will begin', async () => {
  const { body } = await get('?order=desc&limit=1');
  assert.deepEqual(objectsOf(body.changes), ['doc:4']);
  assert.deepEqual((await get(`?cursor=${body.resume_cursor}`)).body.changes, []);
  const { body: second } = await get(`?order=desc&limit=1&cursor=${body.next_cursor}`);
  assert.deepEqual([objectsOf(second.changes), second.resume_cursor], [['doc:3'], null]);
});

test('lines come where they are asked for, with the cursor in a header', async () => {
  for (const [query, headers] of [
    ['?limit=3&format=ndjson', {}],
    ['?limit=3', { Accept: 'text/html, application/x-ndjson; q=0.9' }],
  ] as const) {
    const { text, headers: given } = await get(query, headers);
    assert.equal(given.get('content-type'), 'application/x-ndjson');
    assert.ok(text.endsWith('\n'));
    const changes = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(changes, (await get('?limit=3')).body.changes);
    const rest = await get(`?format=ndjson&cursor=${given.get('x-service-cursor')}`);
    assert.match(rest.text, /^\{.*"doc:4".*\}\n$/);
    const nothing = await get(`?format=ndjson&cursor=${rest.headers.get('x-service-cursor')}`);
    assert.deepEqual([nothing.status, nothing.text], [200, '']);
    assert.ok(nothing.headers.get('x-service-cursor') !== null, 'there is always more to come');
  }
  assert.equal((await get('?order=desc&format=ndjson')).headers.get('x-service-cursor'), null, 'nothing is older');
  assert.equal((await get('?format=json', { Accept: 'application/x-ndjson' })).body.changes.length, 4);
});

test('a range of time is handed on, and one that cannot be is refused', async () => {
  const { body } = await get('?since=2000-01-01T00:00:00Z&until=2999-01-01T00:00:00.000Z');
  assert.equal(body.changes.length, 4);
  assert.deepEqual((await get('?until=2000-01-01T00:00:00Z')).body.changes, []);
  assertProblem(await get('?since=2001-01-01T00:00:00Z&until=2000-01-01T00:00:00Z'), 400, 'invalid-request', /"until"/);
  assertProblem(await get('?until=1960-01-01T00:00:00Z'), 400, 'invalid-request', /"until"/);
  for (const query of ['?since=yesterday', '?order=newest', '?format=csv', '?reverse=1', '?limit=0']) {
    assertProblem(await get(query), 400, 'invalid-request');
  }
});
