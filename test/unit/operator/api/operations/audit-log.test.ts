// The audit log over the operator's API: its orders, ranges, cursors and the two forms in which it comes.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { useConsole } from '../../../../kit/console-service.ts';
import { assertProblem, callOperator } from '../../operator-call.ts';

const service = await useConsole();
let tenant: string;

const get = (query: string, headers: Record<string, string> = {}) =>
  callOperator(service.url, 'GET', `/tenants/${tenant}/audit-log${query}`, undefined, headers);

/** Of the grants alone: the log also has the tenant and its namespaces. */
const getGrants = (query: string, headers?: Record<string, string>) =>
  get(`?subject=user:ann&${query.slice(1)}`, headers);

const grant = (object: string) =>
  callOperator(service.url, 'POST', `/tenants/${tenant}/grants`, { subject: 'user:ann', relation: 'viewer', object });

const objectsOf = (entries: readonly { readonly change: { readonly object: string } }[]): readonly string[] =>
  entries.map(({ change }) => change.object);

before(async () => {
  tenant = (await callOperator(service.url, 'POST', '/tenants', { name: 'Acme' })).body.tenant_id;
  for (const object of ['doc:1', 'doc:2', 'doc:3']) await grant(object);
});

test('pages go on with next_cursor, and the last one says where new changes will begin', async () => {
  const { body: first } = await getGrants('?limit=2');
  assert.deepEqual(Object.keys(first), ['entries', 'next_cursor', 'resume_cursor', 'scanned_to']);
  assert.deepEqual([objectsOf(first.entries), first.resume_cursor], [['doc:1', 'doc:2'], null]);
  const { body: last } = await getGrants(`?cursor=${first.next_cursor}`);
  assert.deepEqual([objectsOf(last.entries), last.next_cursor], [['doc:3'], null]);
  const { body: nothing } = await getGrants(`?cursor=${last.resume_cursor}`);
  assert.deepEqual(nothing.entries, []);
  await grant('doc:4');
  const { body: news } = await getGrants(`?cursor=${nothing.resume_cursor}`);
  assert.deepEqual(objectsOf(news.entries), ['doc:4']);
});

test('newest first, the first page says where new changes will begin', async () => {
  const { body } = await getGrants('?order=desc&limit=1');
  assert.deepEqual(objectsOf(body.entries), ['doc:4']);
  assert.deepEqual((await getGrants(`?cursor=${body.resume_cursor}`)).body.entries, []);
  const { body: second } = await getGrants(`?order=desc&limit=1&cursor=${body.next_cursor}`);
  assert.deepEqual([objectsOf(second.entries), second.resume_cursor], [['doc:3'], null]);
});

test('lines come where they are asked for, with the cursor in a header', async () => {
  for (const [query, headers] of [
    ['?limit=3&format=ndjson', {}],
    ['?limit=3', { Accept: 'text/html, application/x-ndjson; q=0.9' }],
  ] as const) {
    const { text, headers: given } = await getGrants(query, headers);
    assert.equal(given.get('content-type'), 'application/x-ndjson');
    assert.ok(text.endsWith('\n'));
    const changes = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(changes, (await getGrants('?limit=3')).body.entries);
    const rest = await getGrants(`?format=ndjson&cursor=${given.get('x-service-cursor')}`);
    assert.match(rest.text, /^\{.*"doc:4".*\}\n$/);
    const nothing = await getGrants(`?format=ndjson&cursor=${rest.headers.get('x-service-cursor')}`);
    assert.deepEqual([nothing.status, nothing.text], [200, '']);
    assert.ok(nothing.headers.get('x-service-cursor') !== null, 'there is always more to come');
  }
  assert.equal(
    (await getGrants('?order=desc&format=ndjson')).headers.get('x-service-cursor'),
    null,
    'nothing is older',
  );
  assert.equal((await getGrants('?format=json', { Accept: 'application/x-ndjson' })).body.entries.length, 4);
});

test('a range of time is handed on, and one that cannot be is refused', async () => {
  const { body } = await getGrants('?since=2000-01-01T00:00:00Z&until=2999-01-01T00:00:00.000Z');
  assert.equal(body.entries.length, 4);
  assert.deepEqual((await getGrants('?until=2000-01-01T00:00:00Z')).body.entries, []);
  assertProblem(await get('?since=2001-01-01T00:00:00Z&until=2000-01-01T00:00:00Z'), 400, 'invalid-request', /"until"/);
  assertProblem(await get('?until=1960-01-01T00:00:00Z'), 400, 'invalid-request', /"until"/);
  for (const query of ['?since=yesterday', '?order=newest', '?format=csv', '?reverse=1', '?limit=0']) {
    assertProblem(await get(query), 400, 'invalid-request');
  }
});

// What fits a filter, the tests of `grantd audit-log` and of the page say.
test('a filter that nothing could fit is refused by the name of its field', async () => {
  for (const [query, field] of [
    ['action=grant', 'action'],
    ['action=', 'action'],
    ['actor=alice', 'actor'],
    ['actor=operator:', 'actor'],
    [`actor=operator:${'x'.repeat(65)}`, 'actor'],
    ['actor=key_1', 'actor'],
    ['subject=ann', 'subject'],
    [`subject=user:${'x'.repeat(257)}`, 'subject'],
    ['object=%00', 'object'],
    ['request_id=1', 'request_id'],
  ]) {
    assertProblem(await get(`?${query}`), 400, 'invalid-request', new RegExp(`"${field}" must be`));
  }
});

test('a page that ended before it was full says how far it looked', async () => {
  service.operator.rowsPerAuditLogPage = 2;
  try {
    const { body } = await get('?limit=3');
    assert.equal(body.entries.length, 2);
    assert.equal(body.scanned_to, body.entries[1].at);
    assert.equal((await get('?limit=2')).body.scanned_to, null, 'it is full');
  } finally {
    service.operator.rowsPerAuditLogPage = Number.POSITIVE_INFINITY;
  }
});
