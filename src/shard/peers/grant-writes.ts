// Writes of grants under a handle: single ones, a bulk write, and a revocation by a filter. Invariant: everything that
// a decision reads is held from before it is queued until it is taken.

import { assert } from '../../core/assert.ts';
import { GrantdError } from '../../core/errors.ts';
import { textOfTerms } from '../../core/grant-attributes.ts';
import { WRITES_PER_CALL_MAX } from '../../core/limits.ts';
import type { UnfollowedReason } from '../../core/service-warnings.ts';
import { isRelation, type Relation, type Tuple, type TupleColumns } from '../../core/tuples.ts';
import { unfollowedReason } from '../../rules/compiled-rules.ts';
import { hasRules } from '../../rules/rule-set.ts';
import { decideBulk, sizeOfBulk, tuplesOf, UncollectedGrants } from '../log/bulk-decision.ts';
import { decideRevocation, OutdatedRange, previewOfRevocation, sizeOfRevocation } from '../log/revocation-decision.ts';
import { type Decide, decideGrant } from '../log/write-decisions.ts';
import { appendTraced } from '../log/write-queue.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { WatchedTuple } from '../memory/watched-tuples.ts';
import {
  type BulkWrite,
  type BulkWriteResult,
  type GrantedTuple,
  type GrantFilter,
  type GrantResult,
  type RevokeResult,
  ShardFailure,
} from '../shard.ts';
import type { Handle } from './handles.ts';
import { type Listing, type ListingContext, pinDeclared, relationsOf } from './listings.ts';
import { type Handler, type ShardParts, sizeOf } from './peer.ts';
import { withMatching } from './revocations.ts';

/** How often the grants of a bulk write are collected because they have expired before its turn. */
const BULK_TRIES = 5;

/**
 * A write that was queued before its key was revoked, or its tenant suspended, must not follow that change in the log.
 * Once the change is acknowledged, nothing more happens under the key.
 */
export function under(handle: Handle, decide: Decide): Decide {
  const { use, memory, keyId } = handle;
  // An operator handle has no key.
  if (use === undefined) return decide;
  return (draft) => {
    if (handle.dead || draft.revokes(memory.tenantId, keyId) || draft.tenant(memory).state === 'suspended') {
      throw new ShardFailure('handle-unknown', "The handle ended before the write's turn came.");
    }
    return decide(draft);
  };
}

export function countLookups(
  { lookups }: Pick<ShardParts, 'lookups'>,
  { pages }: TenantMemory,
  { subjects }: Pick<TupleColumns, 'subjects'>,
): void {
  for (const subject of new Set(subjects)) {
    if (pages.get(subject) === undefined) lookups.misses += 1;
    else lookups.hits += 1;
  }
}

const NONE: ReadonlySet<Relation> = new Set();

/**
 * Loads the tuples of a write and keeps them current until they are disposed of, and with them the rules, if one has an
 * own relation. Undefined: the tenant does not declare the relation now.
 */
async function holdTuples(
  shard: Pick<ShardParts, 'lookups'>,
  memory: TenantMemory,
  tuples: readonly Tuple[],
): Promise<Disposable & { readonly tuples: readonly (WatchedTuple | undefined)[] }> {
  using held = new DisposableStack();
  const { rules } = memory;
  let declared: ReadonlySet<Relation> = NONE;
  if (!tuples.every(({ relation }) => isRelation(relation))) {
    held.use(await rules.pin());
    declared = rules.pinned.relations;
  }
  const isKnown = ({ relation }: Tuple): boolean => isRelation(relation) || declared.has(relation);
  const known = tuples.filter(isKnown);
  countLookups(shard, memory, { subjects: known.map(({ subject }) => subject) });
  const loaded = held.use(await memory.holdGrants(known)).tuples.values();
  const aligned = tuples.map((tuple) => (isKnown(tuple) ? loaded.next().value : undefined));
  return Object.assign(held.move(), { tuples: aligned });
}

export const writeGrants: Handler<'writeGrants'> = async (peer, by, writes) => {
  assert(writes.length <= WRITES_PER_CALL_MAX, 'a call carries at most 1,000 writes');
  const handle = peer.handles.use(by.handle);
  const { memory } = handle;
  using held = await holdTuples(peer.shard, memory, writes);
  using _namespaces = await memory.namespaces.pin();
  const pinning = pinRules(
    memory,
    writes.filter(({ revoke }) => !revoke),
  );
  using _rules = pinning === undefined ? undefined : await pinning;
  peer.handles.assertGood(handle);
  const enqueue = () =>
    writes.map((write, index) => {
      const { subject, object } = write;
      // A change has the terms of the grant that exists as they stay, or as the former ones.
      const former = textOfTerms(held.tuples[index]?.facts ?? undefined).length;
      const size = sizeOf(subject.length + object.length + textOfTerms(write).length + 2 * former);
      const decide = under(handle, decideGrant(peer.shard, memory, held.tuples[index], write));
      return peer.enqueue(handle, by.attempt, index, size, decide);
    });
  const results = await appendTraced(writes.length, () => settleAll(enqueue()));
  const reasonOf = unfollowedBy(memory);
  return results.map((result, index): GrantResult => {
    assert(result.kind === 'grant', 'a grant operation has a grant result');
    const { grant } = result;
    if (reasonOf === undefined || !('grantId' in grant)) return grant;
    return { ...grant, notFollowed: reasonOf(writes[index]) };
  });
};

export const writeBulk: Handler<'writeBulk'> = async (peer, by, write) => {
  const handle = peer.handles.use(by.handle);
  const { memory } = handle;
  using held = await holdTuples(peer.shard, memory, tuplesOf(write));
  using _namespaces = await memory.namespaces.pin();
  const pinning = pinRules(memory, write.grants);
  using _rules = pinning === undefined ? undefined : await pinning;
  peer.handles.assertGood(handle);
  const decide = under(handle, decideBulk(peer.shard, memory, held.tuples, write));
  for (let tries = 0; tries < BULK_TRIES; tries += 1) {
    try {
      const result = await peer.submit(handle, by.attempt, sizeOfBulk(write, held.tuples), decide);
      assert(result.kind === 'bulk', 'a bulk write has a result of its own');
      return withReasons(memory, write, result.bulk);
    } catch (error) {
      if (!(error instanceof UncollectedGrants)) throw error;
      await peer.collect(handle, by.attempt, error.tuples);
      peer.handles.assertGood(handle);
    }
  }
  throw new GrantdError('overloaded', 'Grants of this bulk write keep expiring meanwhile. Nothing was changed.');
};

export const revokeGrants: Handler<'revokeGrants'> = async (peer, by, filter) => {
  const handle = peer.handles.use(by.handle);
  const { memory } = handle;
  using _declared = await pinDeclared(memory, relationsOf(filter));
  return withMatching(peer.shard, peer.listing(handle), filter, async (range, matching) => {
    peer.handles.assertGood(handle);
    const size = sizeOfRevocation(range, matching);
    const decide = under(handle, decideRevocation(memory, filter, range, size));
    try {
      const result = await peer.submit(handle, by.attempt, size, decide);
      assert(result.kind === 'revocation', 'a revocation by a filter has a result of its own');
      return { revoked: result.revoked, complete: result.complete };
    } catch (error) {
      if (error instanceof OutdatedRange) return undefined;
      throw error;
    }
  });
};

/** What the same revocation would do now. */
export async function previewRevocation(
  context: Pick<ListingContext, 'clock'>,
  listing: Listing,
  filter: GrantFilter,
): Promise<RevokeResult> {
  using _declared = await pinDeclared(listing.memory, relationsOf(filter));
  return withMatching(context, listing, filter, async (range, matching) =>
    previewOfRevocation(range, matching, context.clock.wallMs()),
  );
}

/** Keeps the rules of the tenant in memory: they say which grants may be made. Undefined: nothing needs them. */
function pinRules({ tenant, rules }: TenantMemory, grants: readonly GrantedTuple[]): Promise<Disposable> | undefined {
  const needed = tenant.rulesRevision !== undefined && grants.length > 0;
  return needed || grants.some(({ condition }) => typeof condition === 'string') ? rules.pin() : undefined;
}

/** Why the rules cannot follow a grant; undefined: the tenant has no rules, or they cannot be read now. */
function unfollowedBy({
  tenant,
  rules,
}: TenantMemory): ((grant: Tuple | undefined) => UnfollowedReason | undefined) | undefined {
  const stored = tenant.rulesRevision === undefined ? undefined : rules.ready;
  if (stored === undefined || !hasRules(stored.ruleSet)) return undefined;
  return (grant) => grant && unfollowedReason(stored.compiled, grant);
}

/** What a bulk write has done, with why the rules cannot follow some of its grants. */
function withReasons(memory: TenantMemory, write: BulkWrite, result: BulkWriteResult): BulkWriteResult {
  const reasonOf = result.kind === 'written' ? unfollowedBy(memory) : undefined;
  if (result.kind !== 'written' || reasonOf === undefined) return result;
  const grants = result.grants.map((grant, index) => ({ ...grant, notFollowed: reasonOf(write.grants[index]) }));
  return { ...result, grants };
}

/**
 * All results, or the first failure once every promise is settled, so that nothing is decided after the reply. If some
 * operations of a call succeeded and others failed, for whatever reason, the call is undecided. A failure that reports
 * "no change" would be wrong; a repeat finds what was applied and does the rest.
 */
async function settleAll<Result>(promises: readonly Promise<Result>[]): Promise<Result[]> {
  const results: Result[] = [];
  const failures: unknown[] = [];
  for (const settled of await Promise.allSettled(promises)) {
    if (settled.status === 'fulfilled') results.push(settled.value);
    else failures.push(settled.reason);
  }
  if (failures.length === 0) return results;
  if (results.length > 0) throw new ShardFailure('undecided', 'Only some writes of the call were applied.');
  throw failures.find((failure) => failure instanceof ShardFailure && failure.kind === 'undecided') ?? failures[0];
}
