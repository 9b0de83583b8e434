// The export of the audit log of all tenants in the operator's API: pages, CloudEvents, waiting, and what is refused.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { GrantdError } from '../../../../../src/core/errors.ts';
import { OPERATOR_TOKEN, useConsole } from '../../../../kit/console-service.ts';
import { waitFor } from '../../../../kit/wait-for.ts';
import { assertProblem, callOperator, type Reply } from '../../operator-call.ts';

const service = await useConsole();

const call = (method: string, path: string, body?: unknown): Promise<Reply> =>
  callOperator(service.url, method, path, body);
const read = (query = ''): Promise<Reply> => call('GET', `/audit-log${query}`);
/** With a grant. */
async function createTenant(name: string): Promise<string> {
  const { tenant_id: id } = (await call('POST', '/tenants', { name })).body;
  await call('POST', `/tenants/${id}/grants`, { subject: 'user:ann', relation: 'viewer', object: 'doc:1' });
  return id;
}

async function readLines(query: string, accept?: string): Promise<readonly Record<string, unknown>[]> {
  const response = await fetch(`${service.url}/operator/v1/audit-log${query}`, {
    headers: { Authorization: `Bearer ${OPERATOR_TOKEN}`, ...(accept === undefined ? {} : { Accept: accept }) },
  });
  assert.equal(response.headers.get('content-type'), 'application/x-ndjson');
  const text = await response.text();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('the audit log of all tenants', () => {
  test('has the entries of every tenant, with a cursor for what is to come', async () => {
    const [acme, other] = [await createTenant('Acme'), await createTenant('Other')];
    const { status, body } = await read();
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['entries', 'next_cursor', 'at_end', 'slots_missing']);
    assert.deepEqual([body.at_end, body.slots_missing], [true, 0]);
    for (const tenantId of [acme, other]) {
      const own = body.entries.filter((entry: { tenant_id: string }) => entry.tenant_id === tenantId);
      const { entries } = (await call('GET', `/tenants/${tenantId}/audit-log`)).body;
      assert.deepEqual(
        own,
        entries.map((entry: object) => ({ tenant_id: tenantId, ...entry })),
      );
    }
    assert.deepEqual((await read(`?cursor=${body.next_cursor}`)).body.entries, []);
    const third = await createTenant('Third');
    const next = await read(`?cursor=${body.next_cursor}`);
    assert.deepEqual(
      new Set(next.body.entries.map((entry: { tenant_id: string }) => entry.tenant_id)),
      new Set([third]),
    );
  });

  test('comes as CloudEvents, of which the last one is a checkpoint, and a change is always the same event', async () => {
    await createTenant('Acme');
    const { body } = await read();
    const events = await readLines('?format=cloudevents');
    const checkpoint = events.at(-1);
    for (const [index, event] of events.slice(0, -1).entries()) {
      const entry = body.entries[index];
      assert.deepEqual(event, {
        specversion: '1.0',
        type: 'grantd.audit.v1',
        source: '/grantd-audit-log',
        id: `${entry.tenant_id}.${entry.seq}.${entry.index}`,
        subject: entry.tenant_id,
        time: entry.at,
        datacontenttype: 'application/json',
        data: entry,
      });
    }
    assert.equal(events.length, body.entries.length + 1);
    assert.equal(checkpoint?.type, 'grantd.audit-checkpoint.v1');
    const { at, ...data } = Object(checkpoint?.data);
    assert.deepEqual(data, { cursor: body.next_cursor, at_end: true, slots_missing: 0 });
    assert.equal(checkpoint?.time, at);
    assert.deepEqual((await readLines('', 'application/x-ndjson')).slice(0, -1), events.slice(0, -1));
  });

  test('is waited for, also while a slot cannot be read', async () => {
    const { body } = await read('?since=now');
    assert.deepEqual(body.entries, []);
    service.operator.slotsMissing = 2;
    try {
      const missing = await read(`?cursor=${body.next_cursor}`);
      assert.deepEqual([missing.body.at_end, missing.body.slots_missing], [false, 2]);
      const waiting = read(`?cursor=${body.next_cursor}&wait=30`);
      const exports = () => service.operator.calls.filter(({ name }) => name === 'exportAuditLog').length;
      const before = exports();
      await waitFor('a second look', () => exports() > before + 1);
      const tenantId = await createTenant('Later');
      assert.equal((await waiting).body.entries[0].tenant_id, tenantId);
    } finally {
      service.operator.slotsMissing = 0;
    }
  });

  test('is exported by few at a time', async () => {
    const { body } = await read('?since=now');
    const waiting = Array.from({ length: 8 }, () => read(`?cursor=${body.next_cursor}&wait=30`));
    const looks = () => service.operator.calls.filter(({ name }) => name === 'exportAuditLog').length;
    const before = looks();
    await waitFor('all wait', () => looks() >= before + 8);
    assertProblem(await read(), 503, 'overloaded');
    await createTenant('Acme');
    await Promise.all(waiting);
    assert.equal((await read()).status, 200);
  });

  test('says from where on it goes, if the cursor is too old', async () => {
    service.operator.faults.push(new GrantdError('cursor-too-old', 'Too old.', { details: { earliest: 'earlier' } }));
    const refused = await read('?cursor=a');
    assert.deepEqual([refused.status, refused.body.earliest], [410, 'earlier']);
    assert.match(refused.body.type, /\/cursor-too-old$/);
  });

  for (const [query, named] of [
    ['?cursor=a&since=now', /"cursor" and "since"/],
    ['?since=yesterday', /"since"/],
    ['?wait=31', /"wait"/],
    ['?format=csv', /"format"/],
    ['?cursor=', /"cursor"/],
    ['?limit=5', /"limit"/],
  ] as const) {
    test(`${query} is refused`, async () => {
      assertProblem(await read(query), 400, 'invalid-request', named);
    });
  }
});
