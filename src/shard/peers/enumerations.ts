// Enumerations of a tenant: its subjects, and all its grants. Both first wait until state contains every commit that
// precedes the call. They follow the subject rows, of which every subject with a grant has one. As in listings
// (listings.ts), what one page reads is bounded.

import { SUBJECT_BUCKETS } from '../../core/slots.ts';
import { compareUtf8, type Grant } from '../../core/tuples.ts';
import type { ListingTime } from '../log/slot-time.ts';
import type { PagePlace } from '../memory/grant-page.ts';
import { ROWS_PER_PAGE_MAX } from '../memory/grant-range.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { PageQuery, ResultPage } from '../shard.ts';
import { readFromStore, storeDeadline, yieldTurn } from '../store-calls.ts';
import {
  atOneTime,
  cursorAt,
  type Listing,
  type ListingContext,
  type Position,
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

/** Rows per read of one subject. */
const ROWS_PER_READ = 256;

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
}

/** At least `limit` grants of one subject; fewer if it has no more, or has too many tombstone rows. */
async function liveGrants(
  { memory, assertWanted }: Listing,
  { keeps }: ListingTime,
  subject: string,
  start: PagePlace | undefined,
  limit: number,
): Promise<SubjectGrants> {
  const grants: Grant[] = [];
  let after = start;
  for (let reads = 1; ; reads += 1) {
    const { rows, next } = await memory.pages.readRows({
      entity: subject,
      ...(after === undefined ? {} : { after }),
      limit: ROWS_PER_READ,
    });
    assertWanted();
    for (const { counterpart, ...row } of rows) {
      if (keeps(row)) grants.push({ subject, object: counterpart, ...row });
    }
    const full = (reads + 1) * ROWS_PER_READ > ROWS_PER_PAGE_MAX;
    if (grants.length >= limit || next === undefined || full) return { grants, rest: next, reads };
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
  const { limit } = query;
  const scope = ['export', memory.tenantId];
  const position = positionOf(context, scope, query.cursor);
  await tenure.applied();
  const { items, rest } = await atOneTime(listing, (time) => exportPage(context, listing, time, position, limit));
  return { items, nextCursor: rest && cursorAt(context, scope, rest) };
}

async function exportPage(
  context: ListingContext,
  listing: Listing,
  time: ListingTime,
  position: Position | undefined,
  limit: number,
): Promise<ReturnType<ExportPage['result']>> {
  const { memory } = listing;
  const page = new ExportPage(limit);
  let subject = position?.[0];
  if (subject !== undefined && position !== undefined && position.length > 1) {
    const after = { relation: relationAt(position[1]), counterpart: position[2] ?? '' };
    page.add(subject, await liveGrants(listing, time, subject, after, limit + 1));
  }
  for (let atOnce = 1; !page.isFull; atOnce = Math.min(4 * atOnce, SUBJECTS_AT_ONCE_MAX)) {
    const subjects = await subjectsAfter(context, memory, subject, atOnce);
    const wanted = limit + 1 - page.length;
    const parts = await Promise.all(
      subjects.map(async (each) => ({ each, part: await liveGrants(listing, time, each, undefined, wanted) })),
    );
    for (const { each, part } of parts) {
      if (part.grants.length === 0 && part.rest === undefined) memory.noteEmpty(each);
      if (!page.isFull) page.add(each, part);
    }
    subject = subjects.at(-1);
    if (subjects.length < atOnce || subject === undefined) break;
    page.passed(subject);
  }
  return page.result();
}

/**
 * A page of an export while it fills. It is full with one grant more than it returns, or when its read limit is
 * reached.
 */
class ExportPage {
  readonly #limit: number;
  readonly #grants: Grant[] = [];
  #reads = 0;
  /** Where the export continues, if it stopped before the page had enough grants. */
  #rest: Position | undefined;

  constructor(limit: number) {
    this.#limit = limit;
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
    if (!this.isFull && this.#reads >= EXPORT_READS_MAX) this.#rest = [subject];
  }

  result(): { readonly items: readonly Grant[]; readonly rest: Position | undefined } {
    const items = this.#grants.slice(0, this.#limit);
    const last = items.at(-1);
    if (this.#grants.length <= this.#limit || last === undefined) return { items, rest: this.#rest };
    return { items, rest: positionIn(last.subject, { relation: last.relation, counterpart: last.object }) };
  }
}
