// The owner's side of readers: it answers how far its log is now, under its lease and from memory, as it would a check;
// and what the reader lacks up to there. That is the read index of Raft (https://raft.github.io/raft.pdf, 6.4).

import { z } from 'zod';
import { GrantdError } from '../../core/errors.ts';
import { type KeyId, parseKeyId, parseTenantId } from '../../core/ids.ts';
import { type Plans, readersOf } from '../../core/plans.ts';
import { slotOfTenant } from '../../core/slots.ts';
import type { Tenant } from '../../core/tenants.ts';
import type { CountKey, GrantCountRow } from '../../store/store.ts';
import { timeBase } from '../log/slot-time.ts';
import type { Tenure } from '../log/tenure.ts';
import { tenantSchema } from '../log-changes.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import {
  type FollowAnswer,
  type FollowRequest,
  type ReaderPosition,
  type RequestOf,
  ShardFailure,
  type UsedKey,
} from '../shard.ts';
import type { ReaderChoice } from './reader-choice.ts';

/** The parts of the shard that serve its readers. */
export interface FollowParts {
  readonly slots: number;
  readonly plans: Plans;
  /** How many readers a tenant has now. */
  readonly readersOf: ReaderChoice['of'];
  /** The tenure that serves a slot; throws `wrong-owner` or `not-serving`. */
  readonly tenureOf: (slot: number) => Tenure;
  readonly readIndexes: ReadIndexes;
  /** The shards that ask are threads of this process, which read for every tenant. */
  readonly readsAll?: boolean | undefined;
}

/** Answers to fronts and readers, since the metrics were last read. */
export interface ReadIndexes {
  positions: number;
  commits: number;
  beginnings: number;
}

export const noReadIndexes = (): ReadIndexes => ({ positions: 0, commits: 0, beginnings: 0 });

const NOT_FOLLOWED = 'The owner no longer has what the reader lacks.';

/** A number on the wire, which has no infinity: that none is left to be collected. */
const uncollectedIn = ({ nextExpiryMs, uncollectedMs }: TenantMemory): number | undefined =>
  nextExpiryMs === undefined ? undefined : Math.min(uncollectedMs, Number.MAX_SAFE_INTEGER);

/** Begins at a position that the state tables have. */
async function begin(tenure: Tenure, memory: TenantMemory): Promise<FollowAnswer> {
  const { lastSeq: seq } = tenure;
  const nextBase = timeBase(tenure);
  const { tenant } = memory;
  const uncollectedMs = uncollectedIn(memory);
  const count = memory.grantCount.row(tenant.tenantId, seq);
  memory.keepCommits(seq).asked();
  await tenure.applied();
  tenure.assertServing();
  const commits = encodeBeginning({ tenant, count, nextExpiryMs: uncollectedMs });
  const { epoch, slotTime } = tenure;
  return { epoch, seq, nextBase, nowMs: slotTime.nowMs, appliedSeq: seq, commits, more: false, uncollectedMs };
}

function memoryOf({ plans, readsAll = false }: FollowParts, { tenants }: Tenure, text: string): TenantMemory {
  const tenantId = parseTenantId(text);
  const memory = tenantId && tenants.get(tenantId);
  if (memory === undefined) throw new GrantdError('tenant-not-found', 'The owner does not know this tenant.');
  // A reader that has begun before ends at this answer.
  if (!readsAll && readersOf(plans, memory.tenant) === 0)
    throw new ShardFailure('handle-unknown', 'The tenant has no readers.');
  return memory;
}

/** The position is that of a moment at which the lease was valid: there is no await. */
export function readPosition(parts: FollowParts, { slot, tenantId }: RequestOf<'readPosition'>): ReaderPosition {
  const tenure = parts.tenureOf(slot);
  const memory = memoryOf(parts, tenure, tenantId);
  parts.readIndexes.positions += 1;
  const { epoch, slotTime, lastSeq } = tenure;
  const position = {
    tenantId,
    epoch,
    seq: memory.keepCommits(lastSeq).askedLastSeq(),
    nextBase: timeBase(tenure),
    nowMs: slotTime.nowMs,
  };
  return { ...position, readers: parts.readersOf(memory), quietMs: tenure.promiseQuiet(memory) };
}

/** What readers answer counts as use of a key. A key that is gone stays so. */
async function noteUses(tenure: Tenure, memory: TenantMemory, uses: readonly UsedKey[]): Promise<void> {
  using _keys = await memory.keys.pin();
  const { nowMs } = tenure.slotTime;
  for (const { keyId: text, usedAtMs } of uses) {
    const keyId: KeyId | undefined = parseKeyId(text);
    if (keyId !== undefined && memory.keys.rows.has(keyId)) memory.noteUse(keyId, Math.min(usedAtMs, nowMs));
  }
}

export async function followTenant(parts: FollowParts, request: FollowRequest): Promise<FollowAnswer> {
  const tenure = parts.tenureOf(slotOfTenant(request.tenantId, parts.slots));
  const memory = memoryOf(parts, tenure, request.tenantId);
  if (request.epoch === 0) {
    parts.readIndexes.beginnings += 1;
    return begin(tenure, memory);
  }
  if (request.epoch !== tenure.epoch) throw new ShardFailure('handle-unknown', 'The reader follows another epoch.');
  // If its keys cannot be read now, a later use of them is told again.
  if (request.uses !== undefined) void noteUses(tenure, memory, request.uses).catch(() => {});
  if (request.advance) {
    await tenure.advance();
    tenure.assertServing();
  }
  // From here on there is no await: the position is that of a moment at which the lease was valid.
  const part = memory.keepCommits(tenure.lastSeq).after(request.seq);
  if (part === undefined) throw new GrantdError('cursor-too-old', NOT_FOLLOWED);
  parts.readIndexes.commits += 1;
  const { lines: commits, more } = part;
  const { epoch, appliedSeq, slotTime } = tenure;
  const nextBase = timeBase(tenure);
  const seq = more ? part.lastSeq : tenure.lastSeq;
  const uncollectedMs = uncollectedIn(memory);
  return { epoch, seq, nextBase, nowMs: slotTime.nowMs, appliedSeq, commits, more, uncollectedMs };
}

// ---- the reader's way to the owner ----

export interface OwnerPort {
  /**
   * Makes the call at the shard that `address` (host:port) names, and not again if it fails. Rejects with the
   * ShardFailure or GrantdError of that shard; as `not-serving` if the connection cannot be made within 2 s, is lost,
   * or is silent for 2 s; and as `overloaded` if too many calls wait there.
   */
  follow(address: string, request: FollowRequest): Promise<FollowAnswer>;
}

/** What a reader of a tenant begins with, as the owner has it at one position of the log. */
export interface ReaderStart {
  readonly tenant: Tenant;
  readonly count: Omit<GrantCountRow, 'tenantId'>;
  /** See `TenantMemory`. */
  readonly nextExpiryMs?: number | undefined;
}

const beginningSchema = z.object({
  tenant: tenantSchema,
  count: z.object({
    seq: z.int().nonnegative(),
    grants: z.int(),
    bytes: z.int(),
    byKey: z
      .array(
        z.object({
          key: z.custom<CountKey>((key) => typeof key === 'string' && /^(?:relation|condition):/.test(key)),
          grants: z.int(),
        }),
      )
      .default([]),
    collectedToBaseMs: z.number().optional(),
  }),
  // JSON has no infinity, which stands for: there were grants with an expiry, and none is left.
  nextExpiryMs: z
    .number()
    .nullable()
    .optional()
    .transform((value) => (value === null ? Number.POSITIVE_INFINITY : value)),
});

export const encodeBeginning = (beginning: ReaderStart): string => JSON.stringify(beginning);

/** Throws if it is anything else. */
export function decodeBeginning(text: string): ReaderStart {
  const { tenant, count, nextExpiryMs } = beginningSchema.parse(JSON.parse(text));
  const { collectedToBaseMs, ...counted } = count;
  return { tenant, count: collectedToBaseMs === undefined ? counted : { ...counted, collectedToBaseMs }, nextExpiryMs };
}
