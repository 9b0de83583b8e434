// Collection: records expired grants in the log, as changes of the system. Whether a grant holds does not depend on it
// (slot-time.ts); it keeps tables, counts and the audit log up to date, within a minute unless very many grants expire
// at once.
//
// A pass over a tenant follows the expiry rows of its grants, up to a time that the log has reached. No later grant
// expires by then, and the state tables contain every earlier one, so nothing is missed. A row alone collects nothing:
// the decision reads the grant itself, so a grant that was revoked, collected or given another expiry stays as it is,
// and none is collected twice. Memory holds one page of rows. A pass pauses between pages, so that checks are not
// affected, and yields to the next tenant. Its position is in memory; the time up to which passes are complete is
// stored with the count of the tenant's grants.

import { type Clock, delay } from '../../core/async/clock.ts';
import { TERMS_BYTES_MAX } from '../../core/grant-attributes.ts';
import { SUBJECT_BUCKETS } from '../../core/slots.ts';
import { isLeaving } from '../../core/tenants.ts';
import { isRelation, type Tuple, tupleKey } from '../../core/tuples.ts';
import type { ExpiryBound, ExpiryPlace, Stamp, StateStore } from '../../store/store.ts';
import type { Log } from '../../telemetry/log.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import { storeDeadline } from '../store-calls.ts';
import type { Tenure } from './tenure.ts';
import { type CollectedTuple, decideCollection } from './write-decisions.ts';
import type { Proposal } from './write-queue.ts';

/** Rows of one read, whose grants one operation of the log collects. */
const ROWS_PER_STEP = 50;
const REQUEST_MS = 10_000;
/**
 * A pass rests this many times as long as it worked, and at least this long. 100,000 grants on the embedded store then
 * take about 50 s. With half the rest they take 34 s, and p99 of other tenants' checks doubles.
 */
const REST_FACTOR = 4;
const REST_MS_MIN = 5;
/** After this the next tenant has its turn. */
const TURN_MS = 5000;

export interface GrantCollectionPorts {
  readonly store: StateStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly createRequestId: () => string;
}

/** Runs rounds with pauses between them, until `tenures` returns undefined. */
export async function keepCollecting(
  ports: GrantCollectionPorts,
  roundMs: number,
  tenures: () => Iterable<Tenure> | undefined,
): Promise<void> {
  const collection = new GrantCollection(ports);
  for (let served = tenures(); served !== undefined; served = tenures()) {
    await collection.round(served);
    await delay(ports.clock, roundMs);
  }
}

interface Pass {
  readonly toMs: number;
  /** That of the last entry of the log when the pass began. */
  readonly stamp: Stamp;
  /** Buckets with rows that are then no longer needed. */
  readonly found: Set<number>;
  bucket: number;
  after: ExpiryBound;
  /** The first expiry that the pass found beyond its end. */
  nextMs: number;
}

const startOf = (tenure: Tenure, memory: TenantMemory): ExpiryBound => ({
  expiresAtMs: Math.max((memory.grantCount.collectedToBaseMs ?? 0) - tenure.behindMs, 0) + 1,
  subject: '',
  relation: '',
  object: '',
});

export class GrantCollection {
  readonly #ports: GrantCollectionPorts;
  /** Passes that are not finished. */
  readonly #passes = new WeakMap<TenantMemory, Pass>();

  constructor(ports: GrantCollectionPorts) {
    this.#ports = ports;
  }

  /** Gives each tenant with expired grants a turn. The next round continues, and retries what failed. */
  async round(tenures: Iterable<Tenure>): Promise<void> {
    for (const tenure of [...tenures]) {
      try {
        for (const memory of [...tenure.expiring]) {
          if (!tenure.serving) break;
          if (!isLeaving(memory.tenant)) await this.#turn(tenure, memory);
        }
      } catch (error) {
        if (!tenure.serving) continue;
        const { slot } = tenure;
        this.#ports.log.warn(
          { slot, err: error },
          'collecting expired grants was interrupted; the next round continues',
        );
      }
    }
  }

  async #turn(tenure: Tenure, memory: TenantMemory): Promise<void> {
    const { clock } = this.#ports;
    const untilMs = clock.monotonicMs() + TURN_MS;
    const pass = this.#passes.get(memory) ?? (await this.#begin(tenure, memory));
    if (pass === undefined) return;
    this.#passes.set(memory, pass);
    while (pass.bucket < SUBJECT_BUCKETS) {
      if (!tenure.serving || isLeaving(memory.tenant) || clock.monotonicMs() >= untilMs) return;
      const startedMs = clock.monotonicMs();
      if (await this.#step(tenure, memory, pass)) {
        await delay(clock, Math.max(REST_MS_MIN, REST_FACTOR * (clock.monotonicMs() - startedMs)));
      }
    }
    await this.#finish(tenure, memory, pass);
  }

  /** Undefined: no grant of the tenant has expired. */
  async #begin(tenure: Tenure, memory: TenantMemory): Promise<Pass | undefined> {
    const { slotTime } = tenure;
    const expectedMs = memory.nextExpiryMs ?? Number.POSITIVE_INFINITY;
    if (expectedMs > slotTime.nowMs) return undefined;
    if (expectedMs > slotTime.loggedMs) await tenure.advance();
    const toMs = slotTime.loggedMs;
    if (expectedMs > toMs) return undefined;
    const stamp = tenure.nextBase - 1;
    // From here on, commits record the expiries that the pass may miss.
    memory.nextExpiryMs = Number.POSITIVE_INFINITY;
    memory.collectingMs = expectedMs;
    try {
      await tenure.applied();
    } catch (error) {
      memory.expect(expectedMs);
      memory.collectingMs = Number.POSITIVE_INFINITY;
      throw error;
    }
    const nextMs = Number.POSITIVE_INFINITY;
    return { toMs, stamp, found: new Set(), bucket: 0, after: startOf(tenure, memory), nextMs };
  }

  /** Reads one page of rows and collects their grants. Returns whether there were any. */
  async #step(tenure: Tenure, memory: TenantMemory, pass: Pass): Promise<boolean> {
    const { store, clock } = this.#ports;
    const { tenantId } = memory;
    const query = { tenantId, bucket: pass.bucket, after: pass.after, limit: ROWS_PER_STEP };
    const rows = await store.listExpiries(query, storeDeadline(clock));
    const due = rows.filter(({ expiresAtMs }) => expiresAtMs <= pass.toMs);
    const taken = withinOperation(due);
    const last = taken.at(-1);
    if (last !== undefined) {
      await this.#collect(tenure, memory, taken);
      pass.found.add(pass.bucket);
      const more = taken.length < due.length || due.length === ROWS_PER_STEP;
      if (more) {
        pass.after = last;
        return true;
      }
    }
    pass.nextMs = Math.min(pass.nextMs, rows[due.length]?.expiresAtMs ?? Number.POSITIVE_INFINITY);
    pass.bucket += 1;
    pass.after = startOf(tenure, memory);
    return last !== undefined;
  }

  async #collect(tenure: Tenure, memory: TenantMemory, found: readonly ExpiryPlace[]): Promise<void> {
    const { clock } = this.#ports;
    const { grantCount } = memory;
    // A relation that has since been removed has no grants, and its name needs no number.
    const rows = found.filter(({ relation }) => isRelation(relation) || grantCount.countOf(`relation:${relation}`) > 0);
    const due = withoutRepeats(rows);
    using held = await memory.holdGrants(due);
    if (!tenure.serving) return;
    const tuples = due.flatMap((request, index) => {
      const tuple = held.tuples[index];
      return tuple === undefined ? [] : [{ request, tuple }];
    });
    const expiresAtMs = clock.monotonicMs() + REQUEST_MS;
    const requestId = this.#ports.createRequestId();
    await tenure.submit(collectionOperation(memory, tuples, { requestId, expiresAtMs }));
  }

  /** Everything up to the end of the pass is collected, so its expiry rows are obsolete. */
  async #finish(tenure: Tenure, memory: TenantMemory, pass: Pass): Promise<void> {
    const { store, clock } = this.#ports;
    const { tenantId } = memory;
    this.#passes.delete(memory);
    memory.collectingMs = Number.POSITIVE_INFINITY;
    const { grantCount } = memory;
    grantCount.collectedToBaseMs = Math.max(grantCount.collectedToBaseMs ?? 0, pass.toMs + tenure.behindMs);
    memory.expect(pass.nextMs);
    for (const bucket of pass.found) {
      await store.removeExpiries({ tenantId, bucket, toMs: pass.toMs }, pass.stamp, storeDeadline(clock));
    }
  }
}

/** A grant whose expiry was changed, or which was made again, has several rows. */
const withoutRepeats = (rows: readonly ExpiryPlace[]): readonly ExpiryPlace[] => [
  ...new Map(rows.map((row) => [tupleKey(row), row])).values(),
];

// ---- the write that collects expired grants ----

/**
 * UTF-8 bytes of an operation, and of each change with its terms, whose quotes are escaped; without other strings,
 * of which a character takes at most 6 (an escape).
 */
const OPERATION_BYTES = 1024;
const CHANGE_BYTES = 400 + 2 * TERMS_BYTES_MAX;
const BYTES_PER_CHARACTER = 6;
/** A hundred of the longest grants would be more. */
const OPERATION_BYTES_MAX = 256 * 1024;

const bytesOf = (tuples: readonly Tuple[]): number =>
  tuples.reduce(
    (sum, { subject, object }) => sum + CHANGE_BYTES + BYTES_PER_CHARACTER * (subject.length + object.length),
    0,
  );

/** The first tuples, as many as one operation may collect. */
export function withinOperation<Each extends Tuple>(tuples: readonly Each[]): readonly Each[] {
  let count = tuples.length;
  while (count > 1 && bytesOf(tuples.slice(0, count)) > OPERATION_BYTES_MAX) count = Math.ceil(count / 2);
  return tuples.slice(0, count);
}

/** Collects those of the tuples, each named once, whose grants have expired. */
export function collectionOperation(
  memory: TenantMemory,
  tuples: readonly CollectedTuple[],
  { requestId, expiresAtMs }: Pick<Proposal, 'requestId' | 'expiresAtMs'>,
): Proposal {
  return {
    tenantId: memory.tenantId,
    actor: 'system',
    requestId,
    index: 0,
    expiresAtMs,
    bytesMax: OPERATION_BYTES + bytesOf(tuples.map(({ request }) => request)),
    changesMax: tuples.length,
    decide: decideCollection(memory, tuples),
  };
}
