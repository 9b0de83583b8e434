// Each call at the owner asks for its scope, whatever a front has let through.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SCOPES, type Scope, scopeMask } from '../../../../src/core/scopes.ts';
import { columnsOf } from '../../../../src/core/tuples.ts';
import { ACCESS } from '../../../../src/shard/peers/call-access.ts';
import type { ShardConnection } from '../../../../src/shard/shard.ts';
import { attempt, createMemoryStore, ids, OpenSlot, tuple } from '../tools.ts';

const TUPLE = tuple('user:a', 'doc:1');
const PAGE = { limit: 1, cursor: undefined };
const ATTRIBUTES = { name: '', scopes: 7, expiresAtMs: undefined, hash: '0'.repeat(64) };

type Call = (connection: ShardConnection, handle: number) => Promise<unknown>;

/** Every call that is made under a handle, with the scope that the specification gives it; `operator`: no key has it. */
const CALLS: Readonly<Record<string, readonly [Scope | 'any' | 'operator', Call]>> = {
  confirm: ['any', (on, handle) => on.confirm(handle)],
  check: ['check:read', async (on, handle) => on.check(handle, TUPLE.subject, 6, TUPLE.object)],
  checkBulk: ['check:read', (on, handle) => on.checkBulk(handle, columnsOf([TUPLE]))],
  listObjects: [
    'check:read',
    (on, handle) => on.listObjects(handle, { ...PAGE, subject: 'user:a', relation: 'viewer', namespace: undefined }),
  ],
  listNamespaces: ['check:read', (on, handle) => on.listNamespaces(handle)],
  writeGrants: ['grant:write', (on, handle) => on.writeGrants(handle, attempt(), [{ ...TUPLE, revoke: false }])],
  createNamespace: ['grant:write', (on, handle) => on.createNamespace(handle, attempt(), 'other')],
  createKey: ['admin', (on, handle) => on.createKey(handle, attempt(), { ...ATTRIBUTES, keyId: ids.create('key') })],
  listKeys: ['admin', (on, handle) => on.listKeys(handle, PAGE)],
  revokeKey: ['admin', (on, handle) => on.revokeKey(handle, attempt(), ids.create('key'))],
  listSubjects: ['operator', (on, handle) => on.listSubjects(handle, PAGE)],
  listSubjectGrants: ['operator', (on, handle) => on.listSubjectGrants(handle, { ...PAGE, subject: 'user:a' })],
  exportGrants: ['operator', (on, handle) => on.exportGrants(handle, PAGE)],
};

/** Those that need no handle: open to each peer, or a console's. */
const WITHOUT_HANDLE: ReadonlySet<string> = new Set([
  'authenticate',
  'authenticateOperator',
  'tenantOf',
  'createTenant',
  'updateTenant',
  'readTenant',
  'readUsage',
  'listTenants',
  'findTenants',
  'listTrail',
  'listSlots',
  'listMembers',
  'readLoad',
  'report',
  'close',
]);

async function openSlot() {
  const slot = await OpenSlot.open(await createMemoryStore());
  const tenantId = await slot.createTenant();
  const operator = await slot.handle(tenantId);
  /** A handle of a new key, on the connection of a console: what the connection may do is not what holds a key back. */
  const handleOf = async (scopes: number): Promise<number> =>
    (await slot.connection.authenticate(await slot.createKey(operator, tenantId, undefined, scopes))).handle;
  return { slot, operator, handleOf };
}

/** The code of what a call ends with; undefined: it was done. */
const outcome = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
  );

test('every call of a connection is in this file', () => {
  assert.deepEqual(Object.keys(ACCESS).sort(), [...Object.keys(CALLS), ...WITHOUT_HANDLE].sort());
});

for (const [name, [needed, call]] of Object.entries(CALLS)) {
  test(`${name} asks for ${needed} at the owner`, async () => {
    const { slot, operator, handleOf } = await openSlot();
    for (const scope of SCOPES) {
      const code = await outcome(call(slot.connection, await handleOf(scopeMask([scope]))));
      const allowed = needed === 'any' || needed === scope;
      if (allowed) assert.notEqual(code, 'insufficient-scope', scope);
      else assert.equal(code, 'insufficient-scope', scope);
    }
    // All the other scopes together stand for none: no scope implies another.
    const others = scopeMask(SCOPES.filter((scope) => scope !== needed));
    const code = await outcome(call(slot.connection, await handleOf(others)));
    if (needed !== 'any') assert.equal(code, 'insufficient-scope');
    assert.notEqual(await outcome(call(slot.connection, operator)), 'insufficient-scope');
    slot.kill();
  });
}

test('a call without its scope changes nothing, and says which one it lacks', async () => {
  const { slot, operator, handleOf } = await openSlot();
  const reader = await handleOf(scopeMask(['check:read']));
  await assert.rejects(slot.connection.writeGrants(reader, attempt(), [{ ...TUPLE, revoke: false }]), {
    code: 'insufficient-scope',
    message: 'The API key lacks the scope grant:write.',
  });
  const keyId = ids.create('key');
  await assert.rejects(slot.connection.createKey(reader, attempt(), { ...ATTRIBUTES, keyId }), {
    message: 'The API key lacks the scope admin.',
  });
  assert.equal(await slot.check(operator, TUPLE), false);
  const keys = await slot.connection.listKeys(operator, { limit: 10, cursor: undefined });
  assert.deepEqual(
    keys.items.map((key) => key.scopes),
    [scopeMask(['check:read'])],
  );
  slot.kill();
});

test('a key that is stored with more bits than there are scopes has no more rights for it', async () => {
  const { slot, handleOf } = await openSlot();
  const handle = await handleOf(0xff);
  await slot.connection.writeGrants(handle, attempt(), [{ ...TUPLE, revoke: false }]);
  await assert.rejects(slot.connection.exportGrants(handle, PAGE), { code: 'insufficient-scope' });
  slot.kill();
});
