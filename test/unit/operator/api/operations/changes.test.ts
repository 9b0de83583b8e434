// The change feed in the operator's API: pages as under /v1/, with what is refused.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock, systemRandom } from '../../../../../src/roles/process/system.ts';
import { type ConsoleService, startConsole } from '../../../../kit/console-service.ts';
import { assertProblem, callOperator, type Reply } from '../../operator-call.ts';

let service: ConsoleService;
let id: string;

const call = (method: string, path: string, body?: unknown): Promise<Reply> =>
  callOperator(service.url, method, path, body);
const read = (query: string): Promise<Reply> => call('GET', `/tenants/${id}/changes${query}`);
/** Without the namespaces that the grants have created. */
const readGrants = (query: string): Promise<Reply> => read(`?action=grant.created${query}`);
const grant = (subject: string, relation: string): Promise<Reply> =>
  call('POST', `/tenants/${id}/grants`, { subject, relation, object: 'document:plan' });

before(async () => {
  service = await startConsole({ clock: systemClock, random: systemRandom });
  id = (await call('POST', '/tenants', { name: 'Acme' })).body.tenant_id;
  await grant('user:ann', 'viewer');
  await grant('user:bob', 'editor');
});
after(() => service.close());

describe('the changes of a tenant', () => {
  test('come page by page, and the last cursor is for what is to come', async () => {
    const all = await readGrants('');
    assert.equal(all.status, 200);
    assert.deepEqual(Object.keys(all.body), ['changes', 'next_cursor', 'at_end']);
    assert.equal(all.body.at_end, true);
    const told: { action: string; actor: string; grant: { subject: string } }[] = all.body.changes;
    assert.deepEqual(
      told.map(({ action, actor, grant: { subject } }) => [action, actor, subject]),
      [
        ['grant.created', 'operator:alice', 'user:ann'],
        ['grant.created', 'operator:alice', 'user:bob'],
      ],
    );
    const first = await readGrants('&limit=1');
    assert.deepEqual([first.body.changes, first.body.at_end], [told.slice(0, 1), false]);
    const second = await readGrants(`&limit=1&cursor=${first.body.next_cursor}`);
    assert.deepEqual(second.body.changes, told.slice(1));
    assert.deepEqual((await readGrants(`&cursor=${all.body.next_cursor}`)).body.changes, []);
    await grant('user:cy', 'viewer');
    const next = await readGrants(`&cursor=${all.body.next_cursor}&wait=30`);
    assert.deepEqual(next.body.changes.length, 1);
  });

  test('are filtered', async () => {
    const { body } = await read('?relation=editor&namespace=document&action=grant.created,grant.revoked');
    assert.equal(body.changes.length, 1);
    assert.deepEqual((await read('?namespace=folder')).body.changes, []);
  });

  test('of an unknown tenant, and after a cursor of something else, there are none', async () => {
    assertProblem(await read('?cursor=other'), 400, 'invalid-cursor');
    assertProblem(await call('GET', '/tenants/ten_00000000000000000000000000/changes'), 404, 'tenant-not-found');
  });
});
