// The handlers of a shard: one for each call of its port. A call without a handler here does not compile.

import { type CallContext, hasContext } from '../../core/call-context.ts';
import { GrantdError } from '../../core/errors.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { CallName, OperatorCalls, TenantCalls, UnderHandle } from '../shard.ts';
import { listAuditLog } from './audit-log.ts';
import { authenticate, authenticateOperator, confirm } from './authentication.ts';
import { readChanges, withFeedCursor } from './change-feed.ts';
import { checkBulk } from './checks.ts';
import { listLogEnds, listMembers, listSlots, readLoad, readLog } from './cluster.ts';
import { exportGrants, listSubjects } from './enumerations.ts';
import { revokeGrants, writeBulk, writeGrants } from './grant-writes.ts';
import { createKey, identifyKey, listKeys, revokeKey, rotateKey } from './keys.ts';
import { type Listing, listGrants, listHolders, listObjects } from './listings.ts';
import { createNamespace, listNamespaces, unknownNamespaces } from './namespaces.ts';
import type { Handler, Peer, ShardParts } from './peer.ts';
import { checkNamed, listNames } from './ruled-checks.ts';
import { previewRules, readRules, writeRules } from './rules.ts';
import { createTenant, findTenants, listTenants, readTenant, readUsage, updateTenant } from './tenants.ts';

/**
 * Until evaluation takes what a call brings along, it is refused where it could change the answer: an answer without it
 * would be a guess.
 */
const withContext =
  <Name extends 'checkNamed' | 'listNames' | 'listObjects' | 'listHolders'>(serve: Handler<Name>): Handler<Name> =>
  async (peer, by, request) => {
    if (hasContext(request) || ('contexts' in request && request.contexts !== undefined)) {
      await demandEvaluated(peer.handles.use(by.handle).memory, request);
    }
    return serve(peer, by, request);
  };

async function demandEvaluated({ tenant, rules }: TenantMemory, { contextGrants }: CallContext): Promise<void> {
  if (contextGrants !== undefined) throw new GrantdError('invalid-request', '"context_grants" is not available yet.');
  // Only conditions depend on the context.
  if (tenant.rulesRevision === undefined) return;
  using _rules = await rules.pin();
  if (rules.pinned.ruleSet.conditions.length === 0) return;
  throw new GrantdError('invalid-request', '"context" is not available yet.');
}

type Handlers<Name extends CallName> = { readonly [Each in Name]: Handler<Each> };

/** A read under a handle. The handle is validated before it, and again before its answer. */
const reading =
  <Query, Answer>(read: (shard: ShardParts, listing: Listing, query: Query) => Promise<Answer>) =>
  (peer: Peer, by: UnderHandle, query: Query): Promise<Answer> =>
    peer.read(by, (listing) => read(peer.shard, listing, query));

export const TENANT_HANDLERS: Handlers<keyof TenantCalls> = {
  authenticate,
  confirm,
  checkBulk,
  checkNamed: withContext(checkNamed),
  listNames: withContext(reading(listNames)),
  writeGrants,
  writeBulk,
  revokeGrants,
  listObjects: withContext(reading(listObjects)),
  listHolders: withContext(reading(listHolders)),
  listGrants: reading(withFeedCursor(listGrants)),
  listNamespaces: reading(listNamespaces),
  unknownNamespaces: reading(unknownNamespaces),
  createNamespace,
  createKey,
  listKeys: reading(listKeys),
  revokeKey,
  readRules: reading(readRules),
  writeRules,
  previewRules: reading(previewRules),
  readChanges,
};

export const OPERATOR_HANDLERS: Handlers<keyof OperatorCalls> = {
  authenticateOperator,
  createTenant,
  updateTenant,
  readTenant,
  readUsage,
  listTenants,
  findTenants,
  listSubjects: reading(listSubjects),
  exportGrants: reading(withFeedCursor(exportGrants)),
  rotateKey,
  identifyKey: reading(identifyKey),
  listAuditLog,
  listLogEnds,
  readLog,
  listSlots,
  listMembers,
  readLoad,
};
