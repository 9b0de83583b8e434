// The calls that issue and confirm handles, for API keys and for the operator.

import { hashApiKey } from '../../core/api-keys.ts';
import { assert } from '../../core/assert.ts';
import { parseKeyId, parseTenantId, type TenantId } from '../../core/ids.ts';
import { ALL_SCOPES } from '../../core/scopes.ts';
import { isLeaving } from '../../core/tenants.ts';
import type { ServedTenure } from '../log/tenure.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { TenantReader } from '../readers/tenant-reader.ts';
import type { KeyCredentials } from '../shard.ts';
import { sameHash, unauthorized } from './handles.ts';
import type { Handler, Peer } from './peer.ts';
import { noTenant, tenantOf } from './tenants.ts';

interface ServedTenant {
  readonly tenure: ServedTenure;
  readonly reader: TenantReader | undefined;
  readonly memory: TenantMemory | undefined;
}

async function issue(
  peer: Peer,
  claim: KeyCredentials,
  find: (tenantId: TenantId) => ServedTenant | Promise<ServedTenant>,
) {
  const tenantId = parseTenantId(claim.tenantId);
  const keyId = parseKeyId(claim.keyId);
  if (tenantId === undefined || keyId === undefined) throw unauthorized();
  const { tenure, reader, memory } = await find(tenantId);
  if (memory === undefined || isLeaving(memory.tenant)) throw unauthorized();
  const hash = hashApiKey(claim.key);
  const issued = (time: 'nowMs' | 'loggedMs') =>
    memory.withKey(keyId, (key) => {
      tenure.assertServing();
      // The tenant may have been deleted while its key was read.
      if (isLeaving(memory.tenant)) throw unauthorized();
      if (key === undefined || !sameHash(key.hash, hash)) throw unauthorized();
      const { scopes, expiresAtMs } = key;
      const nowMs = tenure.slotTime[time];
      if (expiresAtMs !== undefined && expiresAtMs <= nowMs) {
        if (expiresAtMs <= tenure.slotTime.loggedMs) throw unauthorized();
        return undefined;
      }
      const use = memory.noteUse(keyId, nowMs);
      return peer.handles.issue({ tenure, reader, memory, keyId, actor: keyId, use, expiresAtMs }, scopes);
    });
  const atOnce = await issued('nowMs');
  if (atOnce !== undefined) return atOnce;
  // A key that was refused once stays so, whatever the clocks of later owners say: its end is in the log before.
  await tenure.advance();
  const settled = await issued('loggedMs');
  assert(settled !== undefined, 'the log has reached its own time');
  return settled;
}

export const authenticate: Handler<'authenticate'> = (peer, _, claim) =>
  issue(peer, claim, (tenantId) => {
    const tenure = peer.tenureOf(tenantId);
    return { tenure, reader: undefined, memory: tenure.tenants.get(tenantId) };
  });

/** What was revoked before the call came is not valid here either. */
export const authenticateAtReader: Handler<'authenticateAtReader'> = (peer, _, claim) =>
  issue(peer, claim, async (tenantId) => {
    const reader = await peer.shard.readers.open(tenantId);
    await reader.confirmed();
    return { tenure: reader, reader, memory: reader.memory };
  });

export const authenticateOperator: Handler<'authenticateOperator'> = async (peer, _, claim) => {
  const { tenure, memory } = tenantOf(peer, claim.tenantId);
  if (isLeaving(memory.tenant)) throw noTenant(claim.tenantId);
  const actor = `operator:${claim.operator}`;
  return peer.handles.issue({ tenure, memory, keyId: '', actor, use: undefined, expiresAtMs: undefined }, ALL_SCOPES);
};

export const confirm: Handler<'confirm'> = async (peer, by) => {
  peer.handles.use(by.handle);
};
