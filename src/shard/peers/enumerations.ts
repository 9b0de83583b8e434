// Enumerations of a tenant: its subjects, all its grants, and a part of them for a mirror. They first wait until state
// contains every commit that precedes the call. They follow the subject rows, of which every subject with a grant has
// one. As in listings (listings.ts), what one page reads is bounded.

import { turnOf } from '../../core/async/turns.ts';
import { pairMatcher, relationsIn } from '../../core/change-feed.ts';
import { SUBJECT_BUCKETS } from '../../core/slots.ts';
import { compareUtf8, type Grant } from '../../core/tuples.ts';
import type { ListingTime } from '../log/slot-time.ts';
import type { PagePlace } from '../memory/grant-page.ts';
import { ROWS_PER_PAGE_MAX } from '../memory/grant-range.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { PageQuery, ResultPage, SnapshotPage, SnapshotQuery } from '../shard.ts';
import { readFromStore, storeDeadline, yieldTurn } from '../store-calls.ts';
import {
  atOneTime,
  cursorAt,
  type Listing,
  type ListingContext,
  type Position,
  pinDeclared,
  positionOf,
  relationAt,
} from './listings.ts';
import type { ReadHandler } from './peer.ts';

/**
 * Maximum of subjects whose grants an export reads at once. It starts with one, to avoid useless reads if subjects are
 * large.
 */
const SUBJECTS_AT_ONCE_MAX = 64;
/** Subjects merged in one step: each is compared with one subject of every bucket. */
const SUBJECTS_PER_STEP = 100;
/**
 * Reads of the store for one page of an export, not counting the last group of subjects: twice what the longest page
 * takes.
 */
const EXPORT_READS_MAX = 2000;
/**
 * The same for one page of a snapshot, most of whose rows may be left out: a tenant's own request, as long as its other
 * long listings. The last group makes up to `SNAPSHOT_GROUP_READS` more.
 */
const SNAPSHOT_READS_MAX = 500;
/** Of the subjects that a snapshot reads at once: what one of them has beyond its share begins another page. */
const SNAPSHOT_GROUP_READS = 64;
/** The cost of a read in the turns of tenants: its rows are taken in and looked at. */
const READ_MS = 0.1;

/** Rows per read of one subject. */
const ROWS_PER_READ = 256;
/** Of one subject on one page. */
const SUBJECT_READS_MAX = Math.floor(ROWS_PER_PAGE_MAX / ROWS_PER_READ);

interface Bucket {
  readonly bucket: number;
  /** Subjects that were read and not returned yet, ascending. */
  found: readonly string[];
  given: number;
  after: string | undefined;
  ended: boolean;
}

/** Subjects of a tenant after `after`, ascending over all buckets. */
async function subjectsAfter(
  context: ListingContext,
  memory: TenantMemory,
  after: string | undefined,
  limit: number,
): Promise<string[]> {
  const buckets: readonly Bucket[] = Array.from({ length: SUBJECT_BUCKETS }, (_, bucket) => ({
    bucket,
    found: [],
    given: 0,
    after,
    ended: false,
  }));
  // Subjects are spread evenly, so few buckets need a second read.
  const perBucket = Math.ceil((2 * limit) / SUBJECT_BUCKETS) + 1;
  const subjects: string[] = [];
  while (true) {
    const empty = buckets.filter(({ found, given, ended }) => given === found.length && !ended);
    await Promise.all(empty.map((bucket) => readBucket(context, memory, bucket, perBucket)));
    for (let step = 0; step < SUBJECTS_PER_STEP; step += 1) {
      const first = firstOf(buckets);
      if (first === undefined) return subjects;
      subjects.push(first.found[first.given] ?? '');
      first.given += 1;
      if (subjects.length === limit) return subjects;
      // The next subjects of this bucket may precede those of the others.
      if (first.given === first.found.length && !first.ended) break;
    }
    await yieldTurn(context.clock);
  }
}

async function readBucket(context: ListingContext, memory: TenantMemory, of: Bucket, limit: number): Promise<void> {
  const { store, clock } = context;
  const { tenantId } = memory;
  const { bucket, after } = of;
  of.found = await readFromStore(
    store.listSubjects({ tenantId, bucket, limit, ...(after === undefined ? {} : { after }) }, storeDeadline(clock)),
  );
  of.given = 0;
  of.after = of.found.at(-1);
  of.ended = of.found.length < limit;
}

/** The bucket with the smallest next subject; undefined: none is left. */
function firstOf(buckets: readonly Bucket[]): Bucket | undefined {
  let first: Bucket | undefined;
  for (const bucket of buckets) {
    const subject = bucket.found[bucket.given];
    if (subject === undefined) continue;
    if (first === undefined || compareUtf8(subject, first.found[first.given] ?? '') < 0) first = bucket;
  }
  return first;
}

export const listSubjects: ReadHandler<'listSubjects'> = async (context, { tenure, memory }, query) => {
  const scope = ['subjects', memory.tenantId];
  const after = positionOf(context, scope, query.cursor)?.[0];
  await tenure.applied();
  const subjects = await subjectsAfter(context, memory, after, query.limit + 1);
  const items = subjects.slice(0, query.limit);
  const last = items.at(-1);
  const more = subjects.length > query.limit && last !== undefined;
  return { items, nextCursor: more ? cursorAt(context, scope, [last]) : undefined };
};

interface SubjectGrants {
  readonly grants: readonly Grant[];
  /** Where to continue within the subject; undefined: this is its end. */
  readonly rest: PagePlace | undefined;
  readonly reads: number;
  /** It has grants, though perhaps none that is wanted. */
  readonly live: boolean;
}

/** Which grants an enumeration returns. */
interface Part {
  readonly limit: number;
  /** Undefined: all. */
  readonly matches?: ReturnType<typeof pairMatcher> | undefined;
}

/** At least `limit` grants of one subject; fewer if it has no more, or if `readsMax` reads do not find them. */
async function liveGrants(
  { memory, assertWanted }: Listing,
  { keeps }: ListingTime,
  subject: string,
  { start, limit, matches, readsMax }: Part & { readonly start?: PagePlace | undefined; readonly readsMax: number },
): Promise<SubjectGrants> {
  const grants: Grant[] = [];
  let live = false;
  let after = start;
  for (let reads = 1; ; reads += 1) {
    const { rows, next } = await memory.pages.readRows({
      entity: subject,
      ...(after === undefined ? {} : { after }),
      limit: ROWS_PER_READ,
    });
    assertWanted();
    for (const { counterpart: object, ...row } of rows) {
      if (!keeps(row)) continue;
      live = true;
      if (matches?.({ object, relation: row.relation }) !== false) grants.push({ subject, object, ...row });
    }
    if (grants.length >= limit || next === undefined || reads >= readsMax) return { grants, rest: next, reads, live };
    after = next;
  }
}

const positionIn = (subject: string, { relation, counterpart }: PagePlace): Position => [
  subject,
  relation,
  counterpart,
];

/** Every live grant of a tenant, ascending by (subject, relation, object). */
export async function exportGrants(
  context: ListingContext,
  listing: Listing,
  query: PageQuery,
): Promise<ResultPage<Grant>> {
  const { tenure, memory } = listing;
  const scope = ['export', memory.tenantId];
  const position = positionOf(context, scope, query.cursor);
  await tenure.applied();
  const { items, rest } = await atOneTime(listing, (time) => exportPage(context, listing, time, position, query));
  return { items, nextCursor: rest && cursorAt(context, scope, rest) };
}

/** Every live grant of some pairs, in the same order. */
export async function snapshotGrants(
  context: ListingContext,
  listing: Listing,
  { on, limit, cursor }: SnapshotQuery,
): Promise<ResultPage<Grant> & Pick<SnapshotPage, 'seq'>> {
  const { tenure, memory } = listing;
  using _rules = cursor === undefined ? await pinDeclared(memory, relationsIn({ on })) : undefined;
  const scope = ['snapshot', memory.tenantId, ...[...on].sort()];
  const position = positionOf(context, scope, cursor);
  await tenure.applied();
  const part = { limit, matches: pairMatcher(on) };
  const { items, rest } = await atOneTime(listing, (time) => exportPage(context, listing, time, position, part));
  // Whatever was read had been committed by now.
  return { items, nextCursor: rest && cursorAt(context, scope, rest), seq: tenure.lastSeq };
}

async function exportPage(
  context: ListingContext,
  listing: Listing,
  time: ListingTime,
  position: Position | undefined,
  { limit, matches }: Part,
): Promise<ReturnType<ExportPage['result']>> {
  const { memory, tenure } = listing;
  const isSnapshot = matches !== undefined;
  const page = new ExportPage(limit, isSnapshot ? SNAPSHOT_READS_MAX : EXPORT_READS_MAX);
  let subject = position?.[0];
  if (subject !== undefined && position !== undefined && position.length > 1) {
    const after = { relation: relationAt(position[1]), counterpart: position[2] ?? '' };
    page.add(
      subject,
      await liveGrants(listing, time, subject, {
        start: after,
        limit: limit + 1,
        matches,
        readsMax: SUBJECT_READS_MAX,
      }),
    );
  }
  for (let atOnce = 1; !page.isFull; atOnce = Math.min(4 * atOnce, SUBJECTS_AT_ONCE_MAX)) {
    const subjects = await subjectsAfter(context, memory, subject, atOnce);
    const wanted = limit + 1 - page.length;
    const readsMax = isSnapshot ? Math.ceil(SNAPSHOT_GROUP_READS / atOnce) : SUBJECT_READS_MAX;
    const parts = await Promise.all(
      subjects.map(async (each) => ({
        each,
        part: await liveGrants(listing, time, each, { limit: wanted, matches, readsMax }),
      })),
    );
    for (const { each, part } of parts) {
      if (!part.live && part.rest === undefined) memory.noteEmpty(each);
      if (!page.isFull) page.add(each, part);
    }
    subject = subjects.at(-1);
    if (subjects.length < atOnce || subject === undefined) break;
    page.passed(subject);
    await turnOf(tenure.budget.turns, memory.tenantId, subjects.length * READ_MS);
  }
  return page.result();
}

/**
 * A page of an export while it fills. It is full with one grant more than it returns, or when its read limit is
 * reached.
 */
class ExportPage {
  readonly #limit: number;
  readonly #readsMax: number;
  readonly #grants: Grant[] = [];
  #reads = 0;
  /** Where the export continues, if it stopped before the page had enough grants. */
  #rest: Position | undefined;

  constructor(limit: number, readsMax: number) {
    this.#limit = limit;
    this.#readsMax = readsMax;
  }

  get length(): number {
    return this.#grants.length;
  }

  get isFull(): boolean {
    return this.#grants.length > this.#limit || this.#rest !== undefined;
  }

  add(subject: string, { grants, rest, reads }: SubjectGrants): void {
    this.#grants.push(...grants);
    this.#reads += reads;
    if (rest !== undefined && !this.isFull) this.#rest = positionIn(subject, rest);
  }

  /** Every subject up to this one is in the page, unless it is full. */
  passed(subject: string): void {
    if (!this.isFull && this.#reads >= this.#readsMax) this.#rest = [subject];
  }

  result(): { readonly items: readonly Grant[]; readonly rest: Position | undefined } {
    const items = this.#grants.slice(0, this.#limit);
    const last = items.at(-1);
    if (this.#grants.length <= this.#limit || last === undefined) return { items, rest: this.#rest };
    return { items, rest: positionIn(last.subject, { relation: last.relation, counterpart: last.object }) };
  }
}
