// The change feed in the operator's API. Its filters and cursors are those of /v1/, and the tests of `grantd changes`
// read it through this operation.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useConsole } from '../../../../kit/console-service.ts';
import { callOperator, type Reply } from '../../operator-call.ts';

const service = await useConsole();
const call = (method: string, path: string, body?: unknown): Promise<Reply> =>
  callOperator(service.url, method, path, body);

test('changes come page by page, and the last cursor waits for what is to come', async () => {
  const id = (await call('POST', '/tenants', { name: 'Acme' })).body.tenant_id;
  const grant = (object: string): Promise<Reply> =>
    call('POST', `/tenants/${id}/grants`, { subject: 'user:ann', relation: 'viewer', object });
  const read = async (query: string) => (await call('GET', `/tenants/${id}/changes?action=grant.created${query}`)).body;
  await grant('document:1');
  await grant('document:2');
  const all = await read('');
  assert.deepEqual([Object.keys(all), all.at_end], [['changes', 'next_cursor', 'seq', 'at_end'], true]);
  const first = await read('&limit=1');
  assert.deepEqual([first.changes, first.at_end], [all.changes.slice(0, 1), false]);
  assert.ok(first.seq < all.changes[0].seq, 'the entry has more than the page');
  assert.ok(all.seq >= all.changes[1].seq);
  assert.deepEqual((await read(`&limit=1&cursor=${first.next_cursor}`)).changes, all.changes.slice(1));
  const waiting = read(`&cursor=${all.next_cursor}&wait=30`);
  await grant('document:3');
  assert.deepEqual(
    (await waiting).changes.map(({ grant: { object } }: { grant: { object: string } }) => object),
    ['document:3'],
  );
});
