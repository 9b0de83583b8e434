// What tests of a store are made of: fresh ids and slots, so that they can share a database, and rows with sensible
// values. Slots are drawn far above any that a cluster has.

import { randomInt } from 'node:crypto';
import type { ApiKeyRecord } from '../../../src/core/api-keys.ts';
import { type ClusterId, IdFactory, type KeyId, type TenantId } from '../../../src/core/ids.ts';
import type { RulesVersion } from '../../../src/core/rules-versions.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import type {
  GrantWrite,
  LogRecord,
  MemberRow,
  Meta,
  ObjectGrantPlace,
  RulesWrite,
  SlotRow,
  Store,
} from '../../../src/store/store.ts';

const ids = new IdFactory(systemClock, systemRandom);
let lastSlot = randomInt(2 ** 20, 2 ** 30);

export const newTenantId = (): TenantId => ids.create('ten');
export const newKeyId = (): KeyId => ids.create('key');
export const newIncarnation = (): string => ids.create('inc');
export const newClusterId = (): ClusterId => ids.create('clu');
export const newEntryId = (): string => ids.create('ent');

/** Never the same twice in a run, and hardly ever in two. */
export function newSlot(): number {
  lastSlot += 1;
  return lastSlot;
}

/** For calls that are to be answered, however busy the machine. */
export const soon = (): number => systemClock.monotonicMs() + 60_000;

/** Made by `newClusterId` once. Of the same cluster for every process of a test. */
export const CLUSTER_ID = 'clu_01jd9xk2m4fq0b4t8zj6c5v7wn' as ClusterId;

export const META: Meta = Object.freeze({
  clusterId: CLUSTER_ID,
  slots: 256,
  segmentSize: 8,
  leaseMs: 3000,
  deadlineMs: 10_000,
  logFormat: 1,
  cursorSecrets: Object.freeze(['AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA']),
});

export function createRecord(slot: number, seq: number, change: Partial<LogRecord> = {}): LogRecord {
  return { slot, seq, epoch: 1, entryId: newEntryId(), body: `{"seq":${seq}}`, ...change };
}

export function createMember(change: Partial<MemberRow> = {}): MemberRow {
  return {
    incarnation: newIncarnation(),
    shardName: 'shard-0',
    address: '127.0.0.1:7000',
    state: 'alive',
    heartbeat: 1,
    healthyHeartbeat: 0,
    startedAtMs: 1_700_000_000_000,
    wallMs: 1_700_000_000_000,
    place: undefined,
    ...change,
  };
}

export function createGrantWrite(tenantId: TenantId, change: Partial<GrantWrite> = {}): GrantWrite {
  return {
    kind: 'grant',
    tenantId,
    subject: 'user:ann',
    relation: 'viewer',
    object: 'doc:1',
    grantId: ids.create('grt'),
    createdAtMs: 1_700_000_000_123,
    tombstone: false,
    stamp: 1_700_000_000_000_000,
    ...change,
  };
}

/** `number`: of the version. */
export function createRulesWrite(tenantId: TenantId, number: number, change: Partial<RulesWrite> = {}): RulesWrite {
  const version: RulesVersion = {
    version: number,
    revision: 'a'.repeat(32),
    atMs: 1_700_000_000_123 + number,
    actor: 'operator:ann',
    requestId: ids.create('req'),
    added: number,
    removed: 0,
  };
  return { kind: 'rules', tenantId, version, rules: `{"rules":[${number}]}`, stamp: 1_700_000_000_000_000, ...change };
}

export function createKeyRecord(change: Partial<ApiKeyRecord> = {}): ApiKeyRecord {
  return {
    keyId: newKeyId(),
    name: 'ci',
    scopes: 3,
    createdAtMs: 1_700_000_000_000,
    expiresAtMs: undefined,
    hash: 'ab'.repeat(32),
    ...change,
  };
}

/** A slot that `owner` has claimed: at epoch 1. */
export async function claimFresh(store: Store, owner: string): Promise<SlotRow> {
  const claim = await store.claimSlot({ slot: newSlot(), expected: undefined, owner }, soon());
  if (claim.row === undefined) throw new Error('A fresh slot can be claimed.');
  return claim.row;
}

/** Every live grant on an object that pages of `limit` give, and how many pages it took. */
export async function readAllObjectGrants(
  store: Store,
  query: Omit<Parameters<Store['listObjectGrants']>[0], 'after'>,
): Promise<{ readonly grants: readonly string[]; readonly pages: number }> {
  const grants: string[] = [];
  let after: ObjectGrantPlace | undefined;
  for (let pages = 1; ; pages += 1) {
    const page = await store.listObjectGrants({ ...query, ...(after === undefined ? {} : { after }) }, soon());
    grants.push(...page.grants.map(({ relation, subject }) => `${relation} ${subject}`));
    if (page.next === undefined) return { grants, pages };
    after = page.next;
  }
}

/** Every live grant of a subject that pages of `limit` give, and how many pages it took. */
export async function readAllGrants(
  store: Store,
  query: Omit<Parameters<Store['listGrants']>[0], 'after'>,
): Promise<{ readonly grants: readonly string[]; readonly pages: number }> {
  const grants: string[] = [];
  let after: { relation: GrantWrite['relation']; object: string } | undefined;
  for (let pages = 1; ; pages += 1) {
    const page = await store.listGrants({ ...query, ...(after === undefined ? {} : { after }) }, soon());
    grants.push(...page.grants.map((grant) => `${grant.relation} ${grant.object}`));
    if (page.next === undefined) return { grants, pages };
    after = page.next;
  }
}
