// Who may make a call is judged at the owner, whatever a front has let through.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_SCOPES, SCOPES, type Scope, scopeMask } from '../../../../src/core/scopes.ts';
import { needsHandle, type ServedPeer } from '../../../../src/rpc/calls/define-call.ts';
import { CALLS } from '../../../../src/rpc/calls/table.ts';
import type { CallName } from '../../../../src/shard/shard.ts';
import { attempt, createMemoryStore, ids, OpenSlot, tuple } from '../../shard/tools.ts';
import { arrived, oneOf, ROWS, type Row, requestsOf } from './rows.ts';

const TUPLE = tuple('user:a', 'doc:1');

/** Who may make each call by the specification. `operator`: the operator alone, under a handle of his. */
const RIGHTS: Readonly<Record<CallName, Scope | 'peer' | 'any handle' | 'console' | 'operator' | 'shard'>> = {
  authenticate: 'peer',
  authenticateAtReader: 'peer',
  readPosition: 'peer',
  authenticateOperator: 'console',
  confirm: 'any handle',
  checkBulk: 'check:read',
  checkNamed: 'check:read',
  writeGrants: 'grant:write',
  writeBulk: 'grant:write',
  revokeGrants: 'grant:write',
  previewRevocation: 'grant:write',
  listObjects: 'check:read',
  listHolders: 'check:read',
  listNames: 'check:read',
  readSets: 'check:read',
  listGrants: 'check:read',
  snapshotGrants: 'check:read',
  listNamespaces: 'check:read',
  createNamespace: 'grant:write',
  createKey: 'admin',
  listKeys: 'admin',
  revokeKey: 'admin',
  readRules: 'admin',
  readJoin: 'check:read',
  writeRules: 'admin',
  previewRules: 'admin',
  listRulesVersions: 'admin',
  readRulesVersion: 'admin',
  readChanges: 'check:read',
  createTenant: 'console',
  updateTenant: 'console',
  readTenant: 'console',
  readUsage: 'console',
  listTenants: 'console',
  findTenants: 'console',
  listSubjects: 'operator',
  listAuditLog: 'console',
  listLogEnds: 'console',
  readLog: 'console',
  rotateKey: 'operator',
  identifyKey: 'operator',
  compareAccess: 'admin',
  exportGrants: 'operator',
  listSlots: 'console',
  repairTime: 'console',
  listMembers: 'console',
  readLoad: 'console',
  followTenant: 'shard',
  expectSlot: 'shard',
  takeSlot: 'shard',
};

async function openSlot() {
  const slot = await OpenSlot.open(await createMemoryStore());
  const tenantId = await slot.createTenant();
  const operator = await slot.handle(tenantId);
  const console: ServedPeer = slot.console;
  const front: ServedPeer = { tenant: slot.front };
  const shard: ServedPeer = slot.reader;
  /** A handle of a new key. */
  const handleOf = async (peer: ServedPeer, scopes: number): Promise<number> => {
    const claim = await slot.createKey(operator, tenantId, undefined, scopes);
    return (await peer.tenant.call('authenticate', {}, claim)).handle;
  };
  return { slot, operator, console, front, shard, handleOf };
}

/** A request that waits for nothing: without changes, a feed answers once it has waited. */
function requestOf(row: Row): unknown {
  const request = oneOf(requestsOf(row));
  return row.name === 'readChanges' ? { ...Object(request), waitMs: 0 } : request;
}

/** The code of what a call ends with; undefined: it was done. */
async function outcome(row: Row, peer: ServedPeer, handle: number): Promise<unknown> {
  try {
    await row.call.serve(peer, arrived(row.call.toWire(requestOf(row)), handle, attempt()));
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}

for (const row of ROWS) {
  const needed = RIGHTS[row.name];

  test(`${row.name} asks for ${needed} at the owner`, async () => {
    const { slot, operator, console, front, shard, handleOf } = await openSlot();
    // A handle on the connection of a console: what the connection may do is not what holds a key back.
    for (const peer of [console, front, shard]) {
      for (const scope of SCOPES) {
        const code = await outcome(row, peer, await handleOf(peer, scopeMask([scope])));
        const allowed =
          needed === 'peer' ||
          needed === 'any handle' ||
          needed === scope ||
          (needed === 'console' && peer === console) ||
          (needed === 'shard' && peer === shard);
        if (allowed) assert.notEqual(code, 'insufficient-scope', scope);
        else assert.equal(code, 'insufficient-scope', scope);
      }
      // All the other scopes together stand for none: no scope implies another.
      if (SCOPES.some((scope) => scope === needed)) {
        const others = scopeMask(SCOPES.filter((scope) => scope !== needed));
        assert.equal(await outcome(row, peer, await handleOf(peer, others)), 'insufficient-scope');
      }
    }
    if (needed !== 'shard') assert.notEqual(await outcome(row, console, operator), 'insufficient-scope');
    slot.kill();
  });
}

test('a single check asks for check:read at the owner', async () => {
  const { slot, operator, front, handleOf } = await openSlot();
  await slot.grant(operator, TUPLE);
  const writer = await handleOf(front, scopeMask(['grant:write', 'admin']));
  const check = async (handle: number) => front.tenant.check(handle, TUPLE.subject, 6, TUPLE.object);
  await assert.rejects(check(writer), {
    code: 'insufficient-scope',
    message: 'The API key lacks the scope check:read.',
  });
  assert.equal(await check(await handleOf(front, scopeMask(['check:read']))), true);
  slot.kill();
});

test('a call without its scope changes nothing, and says which one it lacks', async () => {
  const { slot, operator, front, handleOf } = await openSlot();
  const reader = await handleOf(front, scopeMask(['check:read']));
  const write = arrived(CALLS.writeGrants.toWire([{ ...TUPLE, revoke: false }]), reader, attempt());
  assert.throws(() => CALLS.writeGrants.serve(front, write), {
    code: 'insufficient-scope',
    message: 'The API key lacks the scope grant:write.',
  });
  const key = { keyId: ids.create('key'), name: '', scopes: ALL_SCOPES, expiresAtMs: undefined, hash: '0'.repeat(64) };
  assert.throws(() => CALLS.createKey.serve(front, arrived(CALLS.createKey.toWire(key), reader, attempt())), {
    message: 'The API key lacks the scope admin.',
  });
  assert.equal(await slot.check(operator, TUPLE), false);
  const keys = await slot.connection.listKeys(operator, { limit: 10, cursor: undefined });
  assert.deepEqual(
    keys.items.map((each) => each.scopes),
    [scopeMask(['check:read'])],
  );
  slot.kill();
});

test('a key that is stored with more bits than there are scopes has no more rights for it', async () => {
  const { slot, console, handleOf } = await openSlot();
  const handle = await handleOf(console, 0xff);
  const row = (name: CallName): Row => ROWS.find((each) => each.name === name) ?? assert.fail();
  assert.equal(await outcome(row('writeGrants'), console, handle), undefined);
  assert.equal(await outcome(row('exportGrants'), console, handle), 'insufficient-scope');
  slot.kill();
});

test('an ended handle is said to have ended, whatever it may not do', async () => {
  const { slot, front, console, handleOf } = await openSlot();
  for (const row of ROWS) {
    if (!needsHandle(row.call.access)) continue;
    const peer = row.call.access === 'operator-handle' ? console : front;
    const call = arrived(row.call.toWire(requestOf(row)), (await handleOf(peer, 1)) + 1000, attempt());
    await assert.rejects(async () => row.call.serve(peer, call), { kind: 'handle-unknown' }, row.name);
  }
  slot.kill();
});
