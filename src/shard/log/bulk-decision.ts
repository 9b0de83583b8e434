// Decides a bulk write: as a whole, at one moment. Invariant: its preconditions, and whether each of its tuples exists,
// are evaluated against the state before the call; none of its own changes counts.
//
// A tuple whose grant has expired does not exist, but a decision may rely on that only once the log records it. So if
// it finds such a grant, it decides nothing; the caller collects the grant first and submits the write again. A write
// that collected them itself would need room in the log for twice its changes.

import { attributesOfId, type GrantAttributes, textOfTerms, withTerms } from '../../core/grant-attributes.ts';
import { expiryPassedInLog } from '../../core/grant-terms.ts';
import { resolvePlan } from '../../core/plans.ts';
import { grantOf, namespacesOf, type Tuple, tupleKey } from '../../core/tuples.ts';
import type { Change } from '../log-changes.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { WatchedTuple } from '../memory/watched-tuples.ts';
import type { BulkWrite, BulkWriteResult } from '../shard.ts';
import { asOf, type Draft } from './draft.ts';
import {
  assertLives,
  type CollectedTuple,
  conditionFault,
  type Decide,
  type DecideContext,
  type Decision,
  decideTerms,
  demandHeld,
  limitReached,
  typeFault,
} from './write-decisions.ts';
import type { Proposal } from './write-queue.ts';

type BulkRefusal = Extract<BulkWriteResult, { kind: 'refused' }>;

interface BulkChanges {
  readonly granted: readonly Tuple[];
  readonly revoked: number;
  /** Namespaces that do not exist yet. */
  readonly namespaces: readonly string[];
}

/** UTF-8 bytes of a change in the log with its result and its new namespaces, without its identifiers. */
const CHANGE_BYTES = 640;
const OPERATION_BYTES = 1024;
/**
 * In UTF-8, per UTF-16 unit: identifiers contain no control characters and no lone surrogates, so escapes take less.
 */
const BYTES_PER_UNIT = 3;

/** In the change and in its result, with every quote escaped. */
const TERM_BYTES_PER_BYTE = 4;
/** The terms of an existing grant count twice: as the kept ones and as the former ones. */
const FORMER_BYTES_PER_BYTE = 6;
/**
 * At most 100 changes of the longest identifiers take 400 KiB. An entry has room for twice what a batch may reserve:
 * also for the longest conditions of 100 grants, where they are not reserved because they exceed this bound, or because
 * an earlier write of the batch sets them.
 */
const BYTES_MAX = 480 * 1024;

/** The room that the write needs in the log. `held`: its tuples, as for `decideBulk`. */
export function sizeOfBulk(
  { grants, revocations }: BulkWrite,
  held: readonly (Pick<WatchedTuple, 'facts'> | undefined)[],
): Pick<Proposal, 'bytesMax' | 'changesMax'> {
  let bytesMax = OPERATION_BYTES;
  for (const grant of grants) bytesMax += TERM_BYTES_PER_BYTE * Buffer.byteLength(textOfTerms(grant));
  for (const tuple of held.slice(0, grants.length + revocations.length)) {
    bytesMax += FORMER_BYTES_PER_BYTE * Buffer.byteLength(textOfTerms(tuple?.facts ?? undefined));
  }
  for (const { subject, object } of [...grants, ...revocations]) {
    bytesMax += CHANGE_BYTES + BYTES_PER_UNIT * (subject.length + object.length);
  }
  return { bytesMax: Math.min(bytesMax, BYTES_MAX), changesMax: grants.length + revocations.length };
}

const withoutChange = (bulk: BulkWriteResult): Decision => ({ result: { kind: 'bulk', bulk }, changes: [] });

/** The tuples of a bulk write, in the order of the held tuples that `decideBulk` expects. */
export const tuplesOf = ({ grants, revocations, preconditions }: BulkWrite): readonly Tuple[] => [
  ...grants,
  ...revocations,
  ...preconditions,
];

/** The write names grants that have expired and are not collected. Nothing was done. */
export class UncollectedGrants extends Error {
  /** Each once. */
  readonly tuples: readonly CollectedTuple[];

  constructor(tuples: readonly CollectedTuple[]) {
    super('Grants of the bulk write have expired and must be collected first.');
    this.tuples = tuples;
  }
}

export function decideBulk(
  context: DecideContext,
  memory: TenantMemory,
  held: readonly (WatchedTuple | undefined)[],
  write: BulkWrite,
): Decide {
  return (draft) => {
    assertLives(draft, memory);
    const wrong = refuseWrong(memory, draft, write);
    if (wrong !== undefined) return withoutChange(wrong);
    const passed = write.grants.findIndex(
      ({ expiresAtMs }) => typeof expiresAtMs === 'number' && expiresAtMs <= draft.nowMs,
    );
    if (passed >= 0) {
      const expiresAtMs = write.grants[passed]?.expiresAtMs ?? 0;
      const field = `grants[${passed}].expires_at`;
      const message = expiryPassedInLog(expiresAtMs, draft.nowMs, context.clock.wallMs(), field);
      return withoutChange({ kind: 'refused', code: 'invalid-request', message });
    }
    for (const [index, grant] of write.grants.entries()) {
      const message = conditionFault(draft, memory, grant, `grants[${index}]`);
      if (message !== undefined) return withoutChange({ kind: 'refused', code: 'invalid-condition', message });
    }
    const uncollected = new Map<string, CollectedTuple>();
    const present = tuplesOf(write).map((request, index) => {
      const tuple = demandHeld(held[index]);
      const found = asOf(draft, request, draft.grant(memory, tuple, request));
      if (found.expired.length > 0) uncollected.set(tupleKey(request), { request, tuple });
      return found.present;
    });
    if (uncollected.size > 0) throw new UncollectedGrants([...uncollected.values()]);
    const granted = present.splice(0, write.grants.length);
    const ended = present.splice(0, write.revocations.length);
    for (const [index, grant] of write.grants.entries()) {
      const message = typeFault(draft, memory, grant, granted[index], `grants[${index}]`);
      if (message !== undefined) return withoutChange({ kind: 'refused', code: 'type-not-allowed', message });
    }
    const unmet = write.preconditions.findIndex(({ exists }, index) => exists !== (present[index] !== null));
    if (unmet >= 0) return withoutChange({ kind: 'precondition-not-met', precondition: unmet });
    return decideChanges(context, memory, draft, write, { granted, ended });
  };
}

/** The first tuple that cannot be a grant; undefined: there is none. */
function refuseWrong(memory: TenantMemory, draft: Draft, write: BulkWrite): BulkRefusal | undefined {
  const lists = { grants: write.grants, revocations: write.revocations, if: write.preconditions };
  for (const [list, tuples] of Object.entries(lists)) {
    for (const [index, tuple] of tuples.entries()) {
      const wrong = draft.tupleFault(memory, tuple, list, index);
      if (wrong !== undefined) return { kind: 'refused', ...wrong };
    }
  }
  return undefined;
}

/** `granted`, `ended`: the grants that existed, of those to grant and of those to revoke. */
function decideChanges(
  context: DecideContext,
  memory: TenantMemory,
  draft: Draft,
  write: BulkWrite,
  { granted, ended }: { readonly [List in 'granted' | 'ended']: readonly (GrantAttributes | null)[] },
): Decision {
  const fresh = write.grants.filter((_, index) => granted[index] === null);
  const named = namespacesOf(...fresh.flatMap(({ subject, object }) => [subject, object]));
  const namespaces = [...named].filter((name) => draft.namespace(memory, name) === undefined);
  const revoked = ended.map((facts) => facts !== null);
  const refusal = refuse(context, memory, draft, {
    granted: fresh,
    revoked: revoked.filter(Boolean).length,
    namespaces,
  });
  if (refusal !== undefined) return withoutChange(refusal);
  const listed = new Set<string>();
  const created: Change[] = [];
  const updated: Change[] = [];
  const grants = write.grants.map((tuple, index) => {
    const present = granted[index];
    if (present) {
      const { attributes, changes } = decideTerms(tuple, present);
      updated.push(...changes);
      return { created: false, ...attributes };
    }
    const attributes = withTerms(attributesOfId(context.ids.create('grt')), tuple);
    const newSubject = !listed.has(tuple.subject) && !memory.pages.holdsSome(tuple.subject);
    listed.add(tuple.subject);
    created.push({ kind: 'grant-created', grant: grantOf(tuple, attributes), newSubject });
    return { created: true, ...attributes };
  });
  const createdAtMs = context.clock.wallMs();
  const changes: Change[] = [
    ...namespaces.map((name): Change => ({ kind: 'namespace-created', name, createdAtMs })),
    ...created,
    ...updated,
    ...write.revocations.flatMap((tuple, index): Change[] => {
      const present = ended[index];
      return present ? [{ kind: 'grant-revoked', grant: grantOf(tuple, present) }] : [];
    }),
  ];
  return {
    result: { kind: 'bulk', bulk: { kind: 'written', grants, revoked } },
    changes,
    results: {
      kind: 'bulk',
      grants: grants.map(({ created: isCreated, ...attributes }) => (isCreated ? 'created' : attributes)),
      revoked,
    },
  };
}

/**
 * The plan's limits apply to the whole, after its revocations: a full tenant may replace grants. The limit of grants is
 * checked first, as for a single grant.
 */
function refuse(
  { plans, onRefused }: DecideContext,
  memory: TenantMemory,
  draft: Draft,
  { granted, revoked, namespaces }: BulkChanges,
): BulkRefusal | undefined {
  const { namespacesMax, grantsMax } = resolvePlan(plans, draft.tenant(memory).plan);
  const added = granted.length - revoked;
  if (added > 0 && grantsMax !== undefined && draft.grantCount(memory) + added > grantsMax) {
    onRefused('grant-limit-reached');
    return { kind: 'refused', code: 'grant-limit-reached', message: limitReached(memory, 'grants', grantsMax) };
  }
  if (namespaces.length > 0 && draft.namespaceCount(memory) + namespaces.length > namespacesMax) {
    onRefused('namespace-limit-reached');
    const message = limitReached(memory, 'namespaces', namespacesMax);
    return { kind: 'refused', code: 'namespace-limit-reached', message };
  }
  return undefined;
}
