// The walk that counts the grants of a tenant and writes their rows by object, if a version that kept neither filled
// the store. It goes through the state tables in the background, one tenant of a shard at a time. It rests four times
// as long as it works, so that checks are not affected. It saves its progress, and the next owner continues from there.
//
// The count is exact although writes continue. A page of grants is evaluated under the delta opened before its read,
// and the position moves past the page in the same synchronous step. From then on commits up to there count themselves.
// The walk misses no subject: a stretch of subjects includes those that the table lists, those with unconfirmed changes
// when the read began, and those that were given grants since. A row by object, tombstone rows included, gets the stamp
// of the row by subject, so that it undoes no commit made in the meantime.
//
// The count row is stored before the first row by object. If a version without rows by object owns the slot later, the
// row that is then outdated shows that there may be rows by object of grants that this version revoked.

import { assert } from '../../core/assert.ts';
import { type Clock, delay } from '../../core/async/clock.ts';
import { bucketOfSubject, SUBJECT_BUCKETS } from '../../core/slots.ts';
import { isLeaving } from '../../core/tenants.ts';
import { relationNumber, relationOf } from '../../core/tuples.ts';
import type { StateStore } from '../../store/store.ts';
import type { Log } from '../../telemetry/log.ts';
import {
  bytesOfGrant,
  type CountPosition,
  compareGrants,
  comparePlaces,
  type SubjectPlace,
} from '../memory/grant-count.ts';
import type { GrantDelta } from '../memory/grant-deltas.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { TenantGrants } from '../shard.ts';
import { storeDeadline } from '../store-calls.ts';
import { RevocationSearch } from './revocation-search.ts';
import type { Tenure } from './tenure.ts';

/** Subjects of one list: of the bucket in which the walk is, and of each bucket that it has not begun. */
const SUBJECTS_PER_LIST = 256;
const SUBJECTS_PER_NEW_BUCKET = 64;
/**
 * Subjects read at once, and rows of each; rows of a subject read alone. About 8,000 rows, counted in a few
 * milliseconds.
 */
const SUBJECTS_AT_ONCE = 32;
const ROWS_PER_SUBJECT = 256;
const ROWS_PER_READ = 1000;
/**
 * Subjects held at once that the list may lack; inserting each takes about 2 µs. If more of them wait to be written to
 * the state tables, the walk waits for that. If more are added during one read, it lists the stretch again.
 */
const CREATED_MAX = 2000;
/** The walk rests this many times as long as it worked, and at least this long. */
const REST_FACTOR = 4;
const REST_MS_MIN = 5;
const SAVE_MS = 5000;
/** After this the next tenant has its turn, so that small tenants do not wait for a large one. */
const TURN_MS = 10_000;
const RETRY_MS = 2000;

export interface GrantWalkPorts {
  readonly store: StateStore;
  readonly clock: Clock;
  readonly log: Log;
}

type WritesPage = Awaited<ReturnType<StateStore['listGrantWrites']>>;

/** Runs rounds with pauses between them, until `tenures` returns undefined. */
export async function keepCounting(
  ports: GrantWalkPorts,
  roundMs: number,
  tenures: () => Iterable<Tenure> | undefined,
): Promise<void> {
  for (let served = tenures(); served !== undefined; served = tenures()) {
    await countGrants(ports, served);
    await delay(ports.clock, roundMs);
  }
}

/** One round over the tenants of a shard: counts those whose count is unknown. The next round retries what failed. */
export async function countGrants(ports: GrantWalkPorts, tenures: Iterable<Tenure>): Promise<void> {
  for (const tenure of tenures) {
    for (const memory of tenure.tenants.values()) {
      if (memory.grantCount.position === undefined && !memory.grantCount.unsaved) continue;
      if (!tenure.serving || isLeaving(memory.tenant)) continue;
      try {
        await new GrantWalk(ports, tenure, memory).run();
      } catch (error) {
        if (!tenure.serving) break;
        const { slot } = tenure;
        ports.log.warn(
          { slot, err: error },
          'counting the grants of a tenant was interrupted; the next round continues',
        );
        await delay(ports.clock, RETRY_MS);
      }
    }
  }
}

class GrantWalk {
  readonly #ports: GrantWalkPorts;
  readonly #tenure: Tenure;
  readonly #memory: TenantMemory;
  /** The next subjects, ascending, and where the stretch ends: at the end of the bucket if `subject` is undefined. */
  #queue: SubjectPlace[] = [];
  #end: { readonly bucket: number; readonly subject: string | undefined } = { bucket: 0, subject: undefined };
  /** Subjects that the queue may lack. */
  readonly #created = new Set<string>();
  /** There were more than the walk can hold. */
  #missed = false;
  #width = 1;
  #savedAtMs: number;

  constructor(ports: GrantWalkPorts, tenure: Tenure, memory: TenantMemory) {
    this.#ports = ports;
    this.#tenure = tenure;
    this.#memory = memory;
    this.#savedAtMs = ports.clock.monotonicMs();
  }

  get #goesOn(): boolean {
    return this.#tenure.serving && !isLeaving(this.#memory.tenant);
  }

  /** Resolves when all grants are counted and saved, the turn is over, or the count is no longer needed. */
  async run(): Promise<void> {
    const { clock } = this.#ports;
    const { grantCount } = this.#memory;
    if (!grantCount.begun) await this.#save();
    const search = new RevocationSearch(this.#ports, this.#tenure, this.#memory);
    const untilMs = clock.monotonicMs() + TURN_MS;
    grantCount.watchCreated((subject) => {
      if (this.#created.size < CREATED_MAX) this.#created.add(subject);
      else this.#missed = true;
    });
    try {
      while (this.#goesOn && grantCount.position !== undefined && clock.monotonicMs() < untilMs) {
        const startedMs = clock.monotonicMs();
        if (grantCount.searchedTo !== undefined) await search.step(grantCount.searchedTo);
        else if (this.#queue.length === 0) await this.#list(grantCount.position);
        else await this.#count(grantCount.position);
        if (clock.monotonicMs() - this.#savedAtMs > SAVE_MS) await this.#save();
        await delay(clock, Math.max(REST_MS_MIN, REST_FACTOR * (clock.monotonicMs() - startedMs)));
      }
    } finally {
      grantCount.watchCreated(undefined);
    }
    if (this.#goesOn) await this.#save();
  }

  /** Lists the next stretch of subjects. */
  async #list(from: CountPosition): Promise<void> {
    const { store, clock } = this.#ports;
    const memory = this.#memory;
    let unconfirmed = memory.pages.unconfirmedEntities();
    if (unconfirmed.size > CREATED_MAX / 2) {
      await this.#tenure.applied();
      unconfirmed = memory.pages.unconfirmedEntities();
      if (unconfirmed.size > CREATED_MAX) return;
    }
    this.#created.clear();
    this.#missed = false;
    for (const subject of unconfirmed) this.#created.add(subject);
    const begun = from.subject !== '';
    const buckets = Array.from(
      { length: begun ? 1 : SUBJECT_BUCKETS - from.bucket },
      (_, index) => from.bucket + index,
    );
    const limit = begun ? SUBJECTS_PER_LIST : SUBJECTS_PER_NEW_BUCKET;
    const range = { tenantId: memory.tenantId, limit, ...(begun ? { after: from.subject } : {}) };
    const lists = await Promise.all(
      buckets.map((bucket) => store.listSubjects({ ...range, bucket }, storeDeadline(clock))),
    );
    // No await from here to the end of the step.
    if (from.grant !== undefined) this.#queue.push({ bucket: from.bucket, subject: from.subject });
    for (const [index, subjects] of lists.entries()) {
      const bucket = from.bucket + index;
      for (const subject of subjects) this.#queue.push({ bucket, subject });
      const last = subjects.at(limit - 1);
      this.#end = { bucket, subject: last };
      if (last !== undefined) break;
    }
    if (this.#admit(from)) this.#passEnd();
  }

  /**
   * Inserts subjects that were given grants since, if they lie within the stretch. False: some of them are unknown, and
   * the stretch must be listed again.
   */
  #admit(position: CountPosition): boolean {
    if (this.#missed) {
      this.#queue = [];
      return false;
    }
    for (const subject of this.#created) {
      const place = { bucket: bucketOfSubject(subject), subject };
      if (comparePlaces(place, position) <= 0 || this.#isBeyondEnd(place)) continue;
      const index = firstFrom(this.#queue, place);
      const present = this.#queue[index];
      if (present === undefined || comparePlaces(present, place) !== 0) this.#queue.splice(index, 0, place);
    }
    this.#created.clear();
    return true;
  }

  #isBeyondEnd(place: SubjectPlace): boolean {
    const { bucket, subject } = this.#end;
    return subject === undefined ? place.bucket > bucket : comparePlaces(place, { bucket, subject }) > 0;
  }

  /** Reads a page of each of the next subjects and counts its grants. */
  async #count(position: CountPosition): Promise<void> {
    const { store, clock } = this.#ports;
    const memory = this.#memory;
    if (!this.#admit(position)) return;
    const group = this.#queue.slice(0, this.#width);
    const limit = group.length === 1 ? ROWS_PER_READ : ROWS_PER_SUBJECT;
    const reads = group.map((place) => {
      const after = comparePlaces(place, position) === 0 ? position.grant : undefined;
      return { place, after, delta: memory.pages.openDelta(place.subject) };
    });
    const pages = await Promise.all(
      reads.map(({ place: { subject }, after }) => {
        const query = { tenantId: memory.tenantId, subject, limit, ...(after === undefined ? {} : { after }) };
        return store.listGrantWrites(query, storeDeadline(clock));
      }),
    );
    // With the stamps of the rows that were read: whatever was committed since then is newer.
    const writes = pages.flatMap((page) => page.writes).map((write) => ({ ...write, kind: 'object-grant' as const }));
    if (writes.length > 0) await store.writeState(writes, storeDeadline(clock));
    // No await from here on: a change that the deltas lack is either behind the position or counts itself.
    if (!this.#admit(position)) return;
    let whole = true;
    for (const [index, { place, after, delta }] of reads.entries()) {
      const page = pages[index];
      assert(page !== undefined, 'each read has its page');
      // A subject that was just given its first grants may precede this one and has not been read.
      if (this.#queue[0] !== place) break;
      whole = page.next === undefined;
      memory.grantCount.advance({ ...place, grant: page.next }, tally(place.subject, page, delta, after));
      if (!whole) break;
      this.#queue.shift();
    }
    this.#width = whole ? Math.min(2 * this.#width, SUBJECTS_AT_ONCE) : 1;
    this.#passEnd();
  }

  /** When the stretch is done, the position moves to its end. */
  #passEnd(): void {
    if (this.#queue.length > 0) return;
    const { bucket, subject } = this.#end;
    const next =
      subject === undefined
        ? { bucket: bucket + 1, subject: '', grant: undefined }
        : { bucket, subject, grant: undefined };
    this.#memory.grantCount.advance(next.bucket < SUBJECT_BUCKETS ? next : undefined, { grants: 0, bytes: 0 });
  }

  /** Uses the stamp of the last entry, since the row includes everything committed so far. */
  async #save(): Promise<void> {
    const { store, clock } = this.#ports;
    const { slot, lastSeq, nextBase } = this.#tenure;
    const { tenantId, grantCount } = this.#memory;
    this.#savedAtMs = clock.monotonicMs();
    const row = grantCount.row(tenantId, lastSeq);
    await store.writeState([{ kind: 'grant-count', slot, row, stamp: nextBase - 1 }], storeDeadline(clock));
    grantCount.saved(row);
  }
}

/** The grants after `after` that the page contains under its delta. */
function tally(
  subject: string,
  { writes, next }: WritesPage,
  delta: GrantDelta,
  after: CountPosition['grant'],
): TenantGrants {
  const changes = delta.changes();
  let count = 0;
  let bytes = 0;
  const add = (place: NonNullable<CountPosition['grant']>): void => {
    count += 1;
    bytes += bytesOfGrant({ subject, ...place });
  };
  for (const { tombstone, relation, object } of writes) {
    if (!tombstone && changes.find(relationNumber(relation) ?? 0, object) === undefined) add({ relation, object });
  }
  for (const { relation: number, counterpart, facts } of changes) {
    const relation = relationOf(number);
    assert(relation !== undefined, 'a relation has a wire number');
    const place = { relation, object: counterpart };
    if (facts === null || (after !== undefined && compareGrants(place, after) <= 0)) continue;
    if (next === undefined || compareGrants(place, next) <= 0) add(place);
  }
  return { grants: count, bytes };
}

/** The index of the first place that is not smaller, in an ascending list. */
function firstFrom(places: readonly SubjectPlace[], place: SubjectPlace): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const present = places[middle];
    if (present !== undefined && comparePlaces(present, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
