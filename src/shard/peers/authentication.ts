// The calls that issue and confirm handles, for API keys and for the operator.

import { hashApiKey } from '../../core/api-keys.ts';
import { parseKeyId, parseTenantId } from '../../core/ids.ts';
import { ALL_SCOPES } from '../../core/scopes.ts';
import { isLeaving } from '../../core/tenants.ts';
import { sameHash, unauthorized } from './handles.ts';
import type { Handler } from './peer.ts';
import { noTenant, tenantOf } from './tenants.ts';

export const authenticate: Handler<'authenticate'> = async (peer, _, claim) => {
  const tenantId = parseTenantId(claim.tenantId);
  const keyId = parseKeyId(claim.keyId);
  if (tenantId === undefined || keyId === undefined) throw unauthorized();
  const tenure = peer.tenureOf(tenantId);
  const memory = tenure.tenants.get(tenantId);
  if (memory === undefined || isLeaving(memory.tenant)) throw unauthorized();
  return memory.withKey(keyId, (key) => {
    tenure.assertServing();
    // The tenant may have been deleted while its key was read.
    if (isLeaving(memory.tenant)) throw unauthorized();
    const nowMs = peer.shard.clock.wallMs();
    if (key === undefined || !sameHash(key.hash, hashApiKey(claim.key))) throw unauthorized();
    if (key.expiresAtMs !== undefined && key.expiresAtMs <= nowMs) throw unauthorized();
    let use = memory.keyUses.get(keyId);
    if (use === undefined) {
      use = { usedAtMs: nowMs, writtenAtMs: 0 };
      memory.keyUses.set(keyId, use);
    }
    use.usedAtMs = nowMs;
    const { scopes, expiresAtMs } = key;
    return peer.handles.issue({ tenure, memory, keyId, actor: keyId, use, expiresAtMs }, scopes);
  });
};

export const authenticateOperator: Handler<'authenticateOperator'> = async (peer, _, claim) => {
  const { tenure, memory } = tenantOf(peer, claim.tenantId);
  if (isLeaving(memory.tenant)) throw noTenant(claim.tenantId);
  const actor = `operator:${claim.operator}`;
  return peer.handles.issue({ tenure, memory, keyId: '', actor, use: undefined, expiresAtMs: undefined }, ALL_SCOPES);
};

export const confirm: Handler<'confirm'> = async (peer, by) => {
  peer.handles.use(by.handle);
};
