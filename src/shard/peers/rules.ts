// The calls about the rules of a tenant: reading and writing them, and what a write would change. For that, the grants
// of the tenant are read from the state tables, in the turns of the tenant, up to a bound.

import { assert } from '../../core/assert.ts';
import { GrantdError } from '../../core/errors.ts';
import { type Grant, namespaceOf } from '../../core/tuples.ts';
import { type AccessChanges, noChanges, OPEN_POINTS, type OpenPoint } from '../../rules/access-changes.ts';
import { narrowedTypes } from '../../rules/allowed-grants.ts';
import { CompiledRules, parseGroup, unfollowedReason } from '../../rules/compiled-rules.ts';
import {
  hasRules,
  namesInRule,
  RULE_SET_BYTES_MAX,
  RULES_SOURCE_BYTES_MAX,
  type RuleSet,
  SELF,
} from '../../rules/rule-set.ts';
import { namesConcerned, namesVanishing, publicChanged, relationsUsed } from '../../rules/rules-diff.ts';
import type { RulesText } from '../../rules/rules-text.ts';
import { KEEP_OUTSIDE, PREVIEW_GRANTS_MAX } from '../../rules/rules-writes.ts';
import { inTurns } from '../../rules/steps.ts';
import type { CountKey } from '../../store/store.ts';
import {
  COMPARED_SUBJECTS_MAX,
  COMPARISON_BOUNDS,
  compareRules,
  type RulesComparison,
} from '../evaluation/compare-access.ts';
import { demandNoneOutside, LISTED_MAX, OutsideGrants, typesInUse, UnreadGrants } from '../log/outside-grants.ts';
import { readAsked } from '../log/usage-store.ts';
import { decideRules, demandRevision, ReplacedRules, refuseLost } from '../log/write-decisions.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import { NO_RULES_REVISION } from '../memory/tenant-rules.ts';
import type { RulesPreview, RulesRequest } from '../shard.ts';
import { exportGrants } from './enumerations.ts';
import { under } from './grant-writes.ts';
import { type Listing, type ListingContext, listGrants } from './listings.ts';
import type { Handler, ReadHandler } from './peer.ts';

/** An encoded operation, without the texts of its rules. */
const OPERATION_BYTES = 2048;
/** The log escapes the quotes of a text, which are less than half of it. */
const LOGGED_BYTES_PER_BYTE = 2;
/** A write of rules stands for as many single writes as its memory is worth: 512 KiB at most. */
const CHANGES_WEIGHT = 512;

/** How often the grants are read for one write, if other rules are written meanwhile. */
const READ_TRIES = 3;
/** Grants that a write of rules compares with its types, if the deadline leaves time for so many. */
const COMPARED_GRANTS_MAX = 1_000_000;
/** Memory of it: a page of grants, and those found that are kept by themselves. */
const COMPARED_BYTES = 2 * 1024 * 1024;
/** Left of the time of the request for the write itself. */
const WRITE_MS = 3000;

interface PreviewBounds {
  readonly grantsMax: number;
  readonly readingMsMax: number;
}

/** What one preview looks at, and for how long, so that its answer is within the deadline of the request. */
const PREVIEW_BOUNDS: PreviewBounds = Object.freeze({ grantsMax: PREVIEW_GRANTS_MAX, readingMsMax: 4000 });
const GRANTS_PER_PAGE = 1000;
/** How long a preview compares subjects: with what it reads, within the deadline of the request. */
const COMPARING_MS_MAX = 3000;
/** Memory of a preview: a page of grants, and the subjects. */
const PREVIEW_BYTES = 2 * 1024 * 1024;

export async function readRules(_: unknown, { memory }: Pick<Listing, 'memory'>): Promise<RulesText> {
  using _rules = await memory.rules.pin();
  return memory.rules.pinned;
}

export const readJoin: ReadHandler<'readJoin'> = async (_, { memory }, query) => {
  using _rules = await memory.rules.pin();
  const revision = memory.tenant.rulesRevision ?? NO_RULES_REVISION;
  const join = await memory.rules.joinOf(query, 'name');
  return { revision, json: JSON.stringify({ revision, ...join }) };
};

export const writeRules: Handler<'writeRules'> = async (peer, by, request) => {
  const handle = peer.handles.use(by.handle);
  const { memory } = handle;
  using _rules = await memory.rules.pin();
  using prepared = await memory.rules.prepare(request.rules);
  const wanted = { ...request, rules: prepared.rules };
  peer.handles.assertGood(handle);
  // The rules and those before them in JSON, and the text form.
  const bytesMax = OPERATION_BYTES + LOGGED_BYTES_PER_BYTE * 2 * RULE_SET_BYTES_MAX + RULES_SOURCE_BYTES_MAX;
  const size = { bytesMax, changesMax: CHANGES_WEIGHT };
  using following = new DisposableStack();
  let outside: OutsideGrants | undefined;
  for (let tries = 0; tries < READ_TRIES; ) {
    try {
      const decide = await inTurns(decideRules(memory, wanted, outside), memory.rules.turn);
      peer.handles.assertGood(handle);
      const result = await peer.submit(handle, by.attempt, size, under(handle, decide));
      assert(result.kind === 'rules-written', 'a write of rules has its result');
      return;
    } catch (error) {
      // Somebody else's write came first, and does so until the deadline at most.
      if (error instanceof ReplacedRules) continue;
      if (!(error instanceof UnreadGrants)) throw error;
      tries += 1;
      outside = new OutsideGrants(error);
      following.use(memory.followGrants(outside.follow));
      outside.reading = await readOutside(peer.shard, peer.listing(handle), outside, by.attempt.expiresAtMs);
      peer.handles.assertGood(handle);
    }
  }
  throw new GrantdError('overloaded', 'The rules keep changing meanwhile. Nothing was changed.');
};

/** Compares the grants of the tenant with the types of rules that are to be written, in turns of the tenant. */
async function readOutside(
  context: ListingContext,
  listing: Listing,
  outside: OutsideGrants,
  expiresAtMs: number,
): Promise<Pick<Scan, 'complete' | 'scannedGrants'>> {
  const { budget } = listing.tenure;
  const leftMs = expiresAtMs - context.clock.monotonicMs() - WRITE_MS;
  const bounds = { grantsMax: COMPARED_GRANTS_MAX, readingMsMax: Math.max(0, leftMs) };
  return budget.calls.run(listing.memory.tenantId, COMPARED_BYTES, context.clock, async () => {
    const scan = new Scan(context, listing, bounds);
    for await (const grant of scan.grants()) outside.add(grant);
    return scan;
  });
}

/** Counts grants of the tenant for one preview, up to a number and a time. */
class Scan {
  readonly #context: ListingContext;
  readonly #listing: Listing;
  readonly #grantsMax: number;
  readonly #untilMs: number;
  scannedGrants = 0;
  complete = true;

  constructor(context: ListingContext, listing: Listing, { grantsMax, readingMsMax }: PreviewBounds) {
    this.#context = context;
    this.#listing = listing;
    this.#grantsMax = grantsMax;
    this.#untilMs = context.clock.monotonicMs() + readingMsMax;
  }

  get #isOver(): boolean {
    return this.scannedGrants >= this.#grantsMax || this.#context.clock.monotonicMs() >= this.#untilMs;
  }

  get #limit(): number {
    return Math.min(GRANTS_PER_PAGE, this.#grantsMax - this.scannedGrants);
  }

  /** Grants of one subject. */
  async countOf(subject: string): Promise<number> {
    let count = 0;
    let cursor: string | undefined;
    do {
      if (this.#isOver) {
        this.complete = false;
        return count;
      }
      const query = { of: { subject }, relation: undefined, limit: this.#limit, cursor };
      const page = await listGrants(this.#context, this.#listing, query);
      this.#listing.assertWanted();
      count += page.items.length;
      this.scannedGrants += page.items.length;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return count;
  }

  /** Every grant, ascending by subject. */
  async *grants(): AsyncGenerator<Awaited<ReturnType<typeof exportGrants>>['items'][number]> {
    let cursor: string | undefined;
    do {
      if (this.#isOver) {
        this.complete = false;
        return;
      }
      const page = await exportGrants(this.#context, this.#listing, { limit: this.#limit, cursor });
      this.#listing.assertWanted();
      this.scannedGrants += page.items.length;
      yield* page.items;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
}

/** The rules at one moment, if they have a wanted revision. */
async function presentRules(
  memory: TenantMemory,
  ifMatch: RulesRequest['ifMatch'],
): Promise<{ readonly present: RuleSet; readonly revision: string }> {
  using _rules = await memory.rules.pin();
  demandRevision(ifMatch, memory.tenant.rulesRevision);
  return {
    present: memory.rules.pinned.ruleSet,
    revision: memory.tenant.rulesRevision ?? NO_RULES_REVISION,
  };
}

export async function previewRules(
  context: ListingContext,
  listing: Listing,
  { rules, ifMatch, outsideTypes: outsideWanted }: RulesRequest,
  bounds = PREVIEW_BOUNDS,
): Promise<RulesPreview> {
  const { tenure, memory } = listing;
  using prepared = await memory.rules.prepare(rules);
  const { ruleSet } = prepared.rules;
  const { present, revision } = await presentRules(memory, ifMatch);
  const { grantCount } = memory;
  const countOf = (key: CountKey): number => grantCount.countOf(key);
  refuseLost(present, ruleSet, countOf);
  const stricter =
    outsideWanted === KEEP_OUTSIDE
      ? undefined
      : typesInUse(narrowedTypes(present, ruleSet), { grants: grantCount.grants, countOf });
  await memory.rules.turn();
  const subjects = new Set<string>();
  const groupNames = new Set<string>();
  const figures = await tenure.budget.calls.run(memory.tenantId, PREVIEW_BYTES, context.clock, async () => {
    const scan = new Scan(context, listing, bounds);
    let publicGrants = 0;
    for (const namespace of publicChanged(present, ruleSet)) publicGrants += await scan.countOf(`${namespace}:*`);
    const countsGroups = present.groups !== ruleSet.groups;
    const used = new Map(relationsUsed(ruleSet).map((each) => [`${each.namespace} ${each.relation}`, each]));
    await memory.rules.turn();
    const compiled = new CompiledRules(ruleSet, undefined, new Map());
    const { types } = prepared.rules;
    let [groupSubjects, notFollowed, outsideTypes, excluded] = [0, 0, 0, 0];
    const some: Grant[] = [];
    if (countsGroups || hasRules(ruleSet) || hasRules(present)) {
      let last = '';
      for await (const grant of scan.grants()) {
        const { subject, relation, object } = grant;
        if (subject !== last) {
          const group = parseGroup(subject);
          if (countsGroups && group !== undefined) groupSubjects += 1;
          if (group !== undefined) groupNames.add(group.name);
          const isSingle = group === undefined || !(present.groups || ruleSet.groups);
          if (isSingle && subjects.size <= COMPARED_SUBJECTS_MAX) subjects.add(subject);
        }
        last = subject;
        used.delete(`${namespaceOf(object)} ${relation}`);
        if (hasRules(ruleSet) && unfollowedReason(compiled, grant) !== undefined) notFollowed += 1;
        if (!types.allows(grant)) outsideTypes += 1;
        if (stricter?.allows(grant) === false) {
          excluded += 1;
          if (some.length < LISTED_MAX) some.push(grant);
        }
      }
    }
    const { scannedGrants, complete } = scan;
    if (excluded > 0) demandNoneOutside(some, excluded, complete ? undefined : scannedGrants);
    const ungranted = [...used.values()];
    return { revision, groupSubjects, publicGrants, notFollowed, outsideTypes, ungranted, scannedGrants, complete };
  });
  const names = await inTurns(namesConcerned(present, ruleSet, groupNames), memory.rules.turn);
  const access = await accessUnder(
    context,
    listing,
    present,
    { ruleSet, revision, names, subjects: [...subjects] },
    figures,
  );
  return { ...figures, vanishing: await vanishingUnder(context, memory, present, ruleSet), access };
}

/** The names that nobody could ask about any more; those most recently asked about first. */
async function vanishingUnder(
  context: ListingContext,
  memory: TenantMemory,
  present: RuleSet,
  ruleSet: RuleSet,
): Promise<RulesPreview['vanishing']> {
  await memory.rules.turn();
  const vanishing = namesVanishing(present, ruleSet);
  const asked = await readAsked(context, memory, vanishing);
  const items = vanishing.map((name, index) => ({ name, askedAtMs: asked[index] }));
  return items.sort((a, b) => (b.askedAtMs ?? 0) - (a.askedAtMs ?? 0));
}

/** Who would lose and gain access, as far as that is known of these subjects within the bounds of a preview. */
async function accessUnder(
  { clock }: ListingContext,
  listing: Listing,
  present: RuleSet,
  comparison: RulesComparison,
  { complete, publicGrants }: Pick<RulesPreview, 'complete' | 'publicGrants'>,
): Promise<AccessChanges> {
  if (comparison.names.size === 0) return noChanges();
  const subjects = comparison.subjects.slice(0, COMPARED_SUBJECTS_MAX);
  // An entity that rules make the holder of a name need not be the subject of a grant.
  const usesSelf = [present, comparison.ruleSet].some(({ rules }) =>
    rules.some((rule) => namesInRule(rule).some(({ name }) => name === SELF)),
  );
  const isWhole = complete && !usesSelf && subjects.length === comparison.subjects.length;
  const bounds = { ...COMPARISON_BOUNDS, untilMs: clock.monotonicMs() + COMPARING_MS_MAX };
  try {
    const changes = await compareRules({ ...listing, clock }, { ...comparison, subjects }, bounds);
    const more: readonly OpenPoint[] = [
      ...(publicGrants > 0 ? ['everyone' as const] : []),
      ...(isWhole ? [] : ['bounds' as const]),
    ];
    return { ...changes, open: OPEN_POINTS.filter((point) => changes.open.includes(point) || more.includes(point)) };
  } catch (error) {
    const isBound = error instanceof GrantdError && ['overloaded', 'evaluation-too-large'].includes(error.code);
    if (isBound) return noChanges('failed');
    throw error;
  }
}
