// What a revocation by a filter reads before it is decided: the first grants of the entity, held current until then.
// Invariant: what is read and held at once is bounded, however many grants or tombstone rows the entity has.

import { GrantdError } from '../../core/errors.ts';
import { CHANGES_MAX, type GrantDelta } from '../memory/grant-deltas.ts';
import type { PageRow } from '../memory/grant-page.ts';
import type { GrantPages } from '../memory/grant-pages.ts';
import { HeldRange, type RangeOf } from '../memory/grant-range.ts';
import type { GrantFilter } from '../shard.ts';
import { yieldTurn } from '../store-calls.ts';
import { type Listing, type ListingContext, pageInMemory } from './listings.ts';

/** Estimated bytes of a grant that is held: the longest take slightly more, most take much less. */
const GRANT_BYTES = 1024;
/** Live rows and tombstone rows that one call reads: some seconds of a slow store. */
const ROWS_PER_CALL_MAX = 100_000;
/** How often the grants are read again because they changed too much. */
const TRIES = 3;

interface Target extends RangeOf {
  readonly pages: GrantPages;
}

function targetOf(listing: Listing, { of, relation }: GrantFilter): Target {
  const { memory } = listing;
  const countMax = memory.pages.limits.revokedPerCall;
  if ('subject' in of) return { pages: memory.pages, entity: of.subject, relation, countMax };
  return { pages: memory.objectPages, entity: of.object, relation, countMax };
}

/** Those that have expired, too: the decision collects them. */
const everyGrant = (): boolean => true;

/** One more than a call revokes, which shows whether any are left. */
const heldMax = ({ countMax }: Target): number => countMax + 1;

/** Calls `decide` with the first grants that match; it returns undefined if they changed too much before its turn. */
export async function withMatching<Result>(
  { clock }: Pick<ListingContext, 'clock'>,
  listing: Listing,
  filter: GrantFilter,
  decide: (range: HeldRange, matching: readonly PageRow[]) => Promise<Result | undefined>,
): Promise<Result> {
  const { tenure, memory, assertWanted } = listing;
  const target = targetOf(listing, filter);
  const page = target.pages.get(target.entity);
  const held = page?.whole === true ? Math.min(page.tuples, heldMax(target)) : heldMax(target);
  return tenure.budget.calls.run(memory.tenantId, GRANT_BYTES * held, clock, async () => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      assertWanted();
      const range = await readRange({ clock }, listing, target);
      const matching = range?.current();
      const result = range === undefined || matching === undefined ? undefined : await decide(range, matching);
      if (result !== undefined) return result;
      // Changes that wait for write-behind are in the state tables a moment later.
      await tenure.applied();
    }
    throw new GrantdError('overloaded', 'These grants change faster than they can be revoked. Nothing was changed.');
  });
}

/** Undefined: they changed too much while they were read. */
async function readRange(
  context: Pick<ListingContext, 'clock'>,
  listing: Listing,
  target: Target,
): Promise<HeldRange | undefined> {
  const { pages, entity, relation } = target;
  const page = await pageInMemory(pages, entity);
  // From here to its use the page is current, and the delta has what follows.
  const delta = pages.openDelta(entity);
  if (delta.size > CHANGES_MAX) return undefined;
  if (page === undefined) return readRows(context, listing, target, delta);
  const rows = page.grantsAfter(pages.relations, undefined, heldMax(target), relation, everyGrant);
  const end = rows.length < heldMax(target) ? undefined : rows.at(-1);
  return new HeldRange(pages.relations, target, { rows, end, delta });
}

/** The first grants of an entity without a whole page in memory. */
async function readRows(
  { clock }: Pick<ListingContext, 'clock'>,
  { assertWanted }: Listing,
  target: Target,
  delta: GrantDelta,
): Promise<HeldRange> {
  const { pages, entity, relation } = target;
  const limit = heldMax(target);
  const rows: PageRow[] = [];
  let end = pages.sweptTo(entity, relation);
  for (let looked = 0; looked < ROWS_PER_CALL_MAX; looked += limit) {
    const part = await pages.readRows({
      entity,
      ...(relation === undefined ? {} : { relation }),
      ...(end === undefined ? {} : { after: end }),
      limit,
    });
    assertWanted();
    rows.push(...part.rows);
    end = part.next;
    if (end === undefined || rows.length >= limit) break;
    await yieldTurn(clock);
  }
  return new HeldRange(pages.relations, target, { rows, end, delta }, (upTo) => pages.sweep(entity, relation, upTo));
}
