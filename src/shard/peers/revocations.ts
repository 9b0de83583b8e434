// What a revocation by a filter reads before it is decided: the first grants of the entity, held current until then.
// Invariant: what is read and held at once is bounded, however many grants or tombstone rows the entity has.

import { GrantdError } from '../../core/errors.ts';
import type { PageRow } from '../memory/grant-page.ts';
import { HeldRange } from '../memory/grant-range.ts';
import type { GrantFilter } from '../shard.ts';
import { type Listing, type ListingContext, pageInMemory } from './listings.ts';

/** Estimated bytes of a grant that is held: the longest take slightly more, most take much less. */
const GRANT_BYTES = 1024;
/** Live rows and tombstone rows that one call reads: some seconds of a slow store. */
const ROWS_PER_CALL_MAX = 100_000;
/** How often the grants are read again because they changed too much. */
const TRIES = 3;

/** Those that have expired, too: the decision collects them. */
const everyGrant = (): boolean => true;

/** Calls `decide` with the first grants that match; it returns undefined if they changed too much before its turn. */
export async function withMatching<Result>(
  { clock }: Pick<ListingContext, 'clock'>,
  listing: Listing,
  filter: GrantFilter,
  decide: (range: HeldRange, matching: readonly PageRow[]) => Promise<Result | undefined>,
): Promise<Result> {
  const { tenure, memory, assertWanted } = listing;
  const { pages, entity } = targetOf(listing, filter);
  const page = pages.get(entity);
  const countMax = heldMax(pages);
  const held = page?.whole === true ? Math.min(page.tuples, countMax) : countMax;
  return tenure.budget.calls.run(memory.tenantId, GRANT_BYTES * held, clock, async () => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      assertWanted();
      const range = await readRange(listing, filter);
      const matching = range.current();
      const result = matching === undefined ? undefined : await decide(range, matching);
      if (result !== undefined) return result;
      // Changes that wait for write-behind are in the state tables a moment later.
      await tenure.applied();
    }
    throw new GrantdError('overloaded', 'These grants change faster than they can be revoked. Nothing was changed.');
  });
}

const targetOf = ({ memory }: Listing, { of }: GrantFilter) =>
  'subject' in of ? { pages: memory.pages, entity: of.subject } : { pages: memory.objectPages, entity: of.object };

/** One more than a call revokes, which shows whether any are left. */
const heldMax = ({ limits }: Listing['memory']['pages']): number => limits.revokedPerCall + 1;

async function readRange(listing: Listing, filter: GrantFilter): Promise<HeldRange> {
  const { pages, entity } = targetOf(listing, filter);
  const { relation } = filter;
  const countMax = heldMax(pages);
  const page = await pageInMemory(pages, entity);
  // From here to its use the page is current, and the delta has what follows.
  const range = new HeldRange(pages, { entity, relation }, pages.limits.revokedPerCall);
  if (range.hasChanged) return range;
  if (page === undefined) {
    const { assertWanted } = listing;
    await range.readFirst({ countMax, rowsMax: ROWS_PER_CALL_MAX, keeps: everyGrant, assertWanted });
  } else {
    const rows = page.grantsAfter(pages.relations, undefined, countMax, relation, everyGrant);
    range.take(rows, rows.length < countMax ? undefined : rows.at(-1));
  }
  return range;
}
