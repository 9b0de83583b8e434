// Which subjects of a tenant may have grants, so that nothing is read from the store for those that have none: most
// people of a directory, and nearly every object and group that an evaluation meets. Invariant: every subject with a
// grant is in the filter, or the filter is not in use. A subject is never removed from it, so some may have no grant
// any more; and it takes a few others for its own.

import type { Clock } from '../../core/async/clock.ts';
import { inParallel } from '../../core/async/in-parallel.ts';
import { type Turns, turnOf } from '../../core/async/turns.ts';
import type { TenantId } from '../../core/ids.ts';
import { SUBJECT_BUCKETS } from '../../core/slots.ts';
import { BloomFilter } from '../../core/structures/bloom-filter.ts';
import { namespaceOf } from '../../core/tuples.ts';
import type { StateReads } from '../../store/store.ts';
import { readFromStore, storeDeadline } from '../store-calls.ts';
import { GROUP_MARK } from './grant-page.ts';
import type { PageLimits } from './limits.ts';
import type { LoadGate } from './load-gate.ts';
import { Evictable, type MemoryBudget } from './memory-budget.ts';

/** Divisor of the budget: of 256 MiB, one tenant's filter takes 4 MiB at most, enough for two million subjects. */
const TENANT_SHARE = 64;
/** Subjects in one read. */
const SUBJECTS_PER_READ = 1000;
const READ_BYTES = 128 * SUBJECTS_PER_READ;
const READ_MS = 1;
const BUCKETS_AT_ONCE = 4;
/** Some megabytes, while they are taken. */
const TAKEN_MAX = 50_000;
const RETRY_MS = 5000;
/** Of a tenant with more namespaces of groups, they are not known. */
const GROUP_NAMESPACES_MAX = 1000;

export interface SubjectFilterDependencies {
  readonly store: StateReads;
  readonly clock: Clock;
  readonly budget: Pick<MemoryBudget, 'bytesMax' | 'add' | 'remove' | 'resize'> & {
    readonly loads: LoadGate;
    readonly turns: Turns;
  };
  readonly pageLimits: Pick<PageLimits, 'readsBeforeScan'>;
  /** Resolves when the state tables contain every commit so far. */
  readonly applied: () => Promise<void>;
}

/** Gets all subjects once they are known. Not called if there are too many. */
export type TakeSubjects = (subjects: readonly string[]) => Promise<void>;

export class SubjectFilter extends Evictable {
  readonly #tenantId: TenantId;
  readonly #take: TakeSubjects;
  readonly #dependencies: SubjectFilterDependencies;
  /** While the subjects are read, and afterwards: with those of later commits. */
  #filter: BloomFilter | undefined;
  /** The filter has every subject. */
  #isComplete = false;
  /** Of the subjects in the filter that may be groups. */
  #groupNamespaces = new Set<string>();
  #reads = 0;
  #scanFromMs = 0;
  #dropped = false;

  /** `isNew`: the tenant has had no grant so far. */
  constructor(tenantId: TenantId, isNew: boolean, take: TakeSubjects, dependencies: SubjectFilterDependencies) {
    super();
    this.#tenantId = tenantId;
    this.#take = take;
    this.#dependencies = dependencies;
    if (!isNew || dependencies.pageLimits.readsBeforeScan === Number.POSITIVE_INFINITY) return;
    this.#isComplete = true;
    this.#start();
  }

  /** False: the subject has no grant. */
  mayHave(subject: string): boolean {
    if (!this.#isComplete || this.#filter === undefined) return true;
    this.referenced = true;
    return this.#filter.has(subject);
  }

  /** Namespaces that have the objects of all groups with grants. Undefined: they are not known. */
  get groupNamespaces(): ReadonlySet<string> | undefined {
    const isKnown = this.#isComplete && this.#groupNamespaces.size <= GROUP_NAMESPACES_MAX;
    return isKnown ? this.#groupNamespaces : undefined;
  }

  /** A subject has got a grant. */
  add(subject: string): void {
    if (this.#filter === undefined) return;
    this.#filter.add(subject);
    if (subject.includes(GROUP_MARK) && this.#groupNamespaces.size <= GROUP_NAMESPACES_MAX)
      this.#groupNamespaces.add(namespaceOf(subject));
    const { bytes } = this.#filter;
    if (bytes !== this.bytes) this.#dependencies.budget.resize(this, bytes);
  }

  /**
   * A subject was read that the filter could not exclude; `grants`: those of the tenant. Once reads have cost about as
   * much as reading all subjects does, this begins in the background.
   */
  countRead(grants: number): void {
    const { clock, pageLimits } = this.#dependencies;
    this.#reads += 1;
    if (this.#filter !== undefined || this.#dropped) return;
    if (this.#reads < pageLimits.readsBeforeScan + grants / SUBJECTS_PER_READ) return;
    if (clock.monotonicMs() < this.#scanFromMs) return;
    void this.#fill(this.#start());
  }

  drop(): void {
    this.#dropped = true;
    this.#forget();
  }

  override evict(): void {
    this.#filter = undefined;
    this.#isComplete = false;
    this.#groupNamespaces = new Set();
    this.#reads = 0;
  }

  #start(): BloomFilter {
    const { budget } = this.#dependencies;
    const filter = new BloomFilter(budget.bytesMax / TENANT_SHARE);
    this.#filter = filter;
    budget.add(this, filter.bytes);
    return filter;
  }

  #forget(): void {
    this.#dependencies.budget.remove(this);
    this.evict();
  }

  async #fill(filter: BloomFilter): Promise<void> {
    let subjects: readonly string[] | undefined;
    try {
      subjects = await this.#scan(filter);
    } catch {
      // The store cannot be read now.
      this.#scanFromMs = this.#dependencies.clock.monotonicMs() + RETRY_MS;
      if (this.#filter === filter) this.#forget();
    }
    // What fails here is read once it is asked for.
    if (subjects !== undefined) await this.#take(subjects).catch(() => {});
  }

  /** Resolves to all subjects; undefined: they are too many, or the filter was dropped meanwhile. */
  async #scan(filter: BloomFilter): Promise<readonly string[] | undefined> {
    const { store, clock, budget, applied } = this.#dependencies;
    const tenantId = this.#tenantId;
    const found: string[] = [];
    await applied();
    const buckets = Array.from({ length: SUBJECT_BUCKETS }, (_, bucket) => bucket);
    await inParallel(buckets, BUCKETS_AT_ONCE, async (bucket) => {
      let after: string | undefined;
      do {
        const from = after === undefined ? {} : { after };
        const subjects = await budget.loads.run(tenantId, READ_BYTES, clock, async () => {
          await turnOf(budget.turns, tenantId, READ_MS);
          if (this.#filter !== filter) return [];
          const query = { tenantId, bucket, limit: SUBJECTS_PER_READ, ...from };
          return readFromStore(store.listSubjects(query, storeDeadline(clock)));
        });
        if (this.#filter !== filter) return;
        for (const subject of subjects) this.add(subject);
        if (found.length <= TAKEN_MAX) found.push(...subjects);
        after = subjects.length < SUBJECTS_PER_READ ? undefined : subjects.at(-1);
      } while (after !== undefined);
    });
    if (this.#filter !== filter) return undefined;
    this.#isComplete = true;
    return found.length <= TAKEN_MAX ? found : undefined;
  }
}
