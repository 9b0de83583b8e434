// The handlers of a shard: one for each call of its port. A call without a handler here does not compile.

import { compareRevocation } from '../evaluation/compare-access.ts';
import { evaluateSets } from '../evaluation/evaluate-sets.ts';
import { followTenant, readPosition } from '../readers/follow-tenant.ts';
import {
  type CallName,
  type InterShardCalls,
  type OperatorCalls,
  ShardFailure,
  type TenantCalls,
  type UnderHandle,
} from '../shard.ts';
import { listAuditLog } from './audit-log.ts';
import { authenticate, authenticateAtReader, authenticateOperator, confirm } from './authentication.ts';
import { readChanges, withFeedCursor } from './change-feed.ts';
import { checkBulk } from './checks.ts';
import { listLogEnds, listMembers, listSlots, readLoad, readLog, repairTime } from './cluster.ts';
import { exportGrants, listSubjects, snapshotGrants } from './enumerations.ts';
import { previewRevocation, revokeGrants, writeBulk, writeGrants } from './grant-writes.ts';
import { createKey, identifyKey, listKeys, revokeKey, rotateKey } from './keys.ts';
import { type Listing, listGrants, listHolders, listObjects } from './listings.ts';
import { createNamespace, listNamespaces } from './namespaces.ts';
import type { Handler, Peer, ShardParts } from './peer.ts';
import { checkNamed, listNames } from './ruled-checks.ts';
import { previewRules, readJoin, readRules, writeRules } from './rules.ts';
import { listRulesVersions, readRulesVersion } from './rules-versions.ts';
import { createTenant, findTenants, listTenants, readTenant, readUsage, updateTenant } from './tenants.ts';

type Handlers<Name extends CallName> = { readonly [Each in Name]: Handler<Each> };

/** A read under a handle. The handle is validated before it, and again before its answer. */
const reading =
  <Query, Answer>(read: (shard: ShardParts, listing: Listing, query: Query) => Promise<Answer>) =>
  (peer: Peer, by: UnderHandle, query: Query): Promise<Answer> =>
    peer.read(by, (listing) => read(peer.shard, listing, query));

export const TENANT_HANDLERS: Handlers<keyof TenantCalls> = {
  authenticate,
  authenticateAtReader,
  readPosition: async (peer, _, request) => readPosition(peer.shard, request),
  confirm,
  checkBulk,
  checkNamed,
  listNames: reading(listNames),
  writeGrants,
  writeBulk,
  revokeGrants,
  previewRevocation: reading(previewRevocation),
  compareAccess: reading(({ clock }, listing, revoked) => compareRevocation({ ...listing, clock }, revoked)),
  listObjects: reading(listObjects),
  listHolders: reading(listHolders),
  readSets: reading(({ clock }, listing, query) => evaluateSets({ ...listing, clock }, query)),
  listGrants: reading(withFeedCursor(listGrants)),
  snapshotGrants: reading(withFeedCursor(snapshotGrants)),
  listNamespaces: reading(listNamespaces),
  createNamespace,
  createKey,
  listKeys: reading(listKeys),
  revokeKey,
  readRules: reading(readRules),
  readJoin: reading(readJoin),
  writeRules,
  previewRules: reading(previewRules),
  listRulesVersions: reading(listRulesVersions),
  readRulesVersion: reading(readRulesVersion),
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
  repairTime,
  listMembers,
  readLoad,
};

function handoversOf({ shard: { handovers } }: Peer): NonNullable<typeof handovers> {
  if (handovers === undefined) throw new ShardFailure('not-serving', 'This shard takes no slots.');
  return handovers;
}

export const INTER_SHARD_HANDLERS: Handlers<keyof InterShardCalls> = {
  followTenant: (peer, _, request) => followTenant(peer.shard, request),
  expectSlot: async (peer, _, request) => handoversOf(peer).expect(request),
  takeSlot: async (peer, _, request) => handoversOf(peer).take(request),
};
