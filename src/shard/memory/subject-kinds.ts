// The kinds of a tenant's subjects: their namespaces, and for groups also their names. Evaluation looks up the grants
// of every object and every group that it meets, most of which are never subjects: entities of an unknown kind need no
// read. Invariant: the kind of every subject with a grant is known, or `mayExist` is true for every subject. Known
// kinds are never forgotten, so some may have no subject any more.

import type { Clock } from '../../core/async/clock.ts';
import { type Turns, turnOf } from '../../core/async/turns.ts';
import type { TenantId } from '../../core/ids.ts';
import { SUBJECT_BUCKETS } from '../../core/slots.ts';
import { parseGroup } from '../../rules/compiled-rules.ts';
import type { StateStore } from '../../store/store.ts';
import { readFromStore, storeDeadline } from '../store-calls.ts';
import type { LoadGate } from './load-gate.ts';
import type { PageLimits } from './page-limits.ts';

/** Beyond, groups are too different for this to save much. */
const KINDS_MAX = 1000;
/** Subjects in one read. */
const SUBJECTS_PER_READ = 1000;
const READ_BYTES = 128 * SUBJECTS_PER_READ;
const READ_MS = 1;
const RETRY_MS = 5000;

interface ScanDependencies {
  readonly store: StateStore;
  readonly clock: Clock;
  readonly budget: { readonly loads: LoadGate; readonly turns: Turns };
  readonly pageLimits: Pick<PageLimits, 'readsBeforeScan'>;
}

const kindOf = (subject: string): string => {
  const namespace = subject.slice(0, subject.indexOf(':') + 1);
  const group = parseGroup(subject);
  return group === undefined ? namespace : `${namespace}#${group.name}`;
};

export class SubjectKinds {
  readonly #tenantId: TenantId;
  readonly #dependencies: ScanDependencies;
  /** Undefined: not all subjects were read since the tenure began, or there are too many kinds. */
  #known: ReadonlySet<string> | undefined;
  /** While the subjects are read, and afterwards: with those of later commits. */
  #kinds: Set<string> | undefined;
  #reads = 0;
  #scanFromMs = 0;
  #dropped = false;

  constructor(tenantId: TenantId, dependencies: ScanDependencies) {
    this.#tenantId = tenantId;
    this.#dependencies = dependencies;
  }

  /** False: no subject of this kind has a grant. */
  mayExist(subject: string): boolean {
    return this.#known === undefined || this.#known.has(kindOf(subject));
  }

  /** A subject has got a grant. */
  add(subject: string): void {
    if (this.#kinds === undefined) return;
    this.#kinds.add(kindOf(subject));
    if (this.#kinds.size > KINDS_MAX) this.#known = undefined;
  }

  /**
   * Evaluations have read entities. After some of them, reads all subjects in the background.
   * `applied`: resolves when the state tables contain every commit so far.
   */
  countReads(count: number, applied: () => Promise<void>): void {
    const { clock, pageLimits } = this.#dependencies;
    this.#reads += count;
    if (this.#kinds !== undefined || this.#dropped || this.#reads < pageLimits.readsBeforeScan) return;
    if (clock.monotonicMs() < this.#scanFromMs) return;
    const kinds = new Set<string>();
    this.#kinds = kinds;
    this.#scan(kinds, applied).then(
      (isComplete) => {
        if (isComplete) this.#known = kinds;
      },
      () => {
        // The store cannot be read now.
        this.#kinds = undefined;
        this.#scanFromMs = clock.monotonicMs() + RETRY_MS;
      },
    );
  }

  drop(): void {
    this.#dropped = true;
    this.#known = undefined;
  }

  /** Resolves to whether all kinds are known. */
  async #scan(kinds: ReadonlySet<string>, applied: () => Promise<void>): Promise<boolean> {
    const { store, clock, budget } = this.#dependencies;
    const tenantId = this.#tenantId;
    await applied();
    for (let bucket = 0; bucket < SUBJECT_BUCKETS; bucket += 1) {
      let after: string | undefined;
      do {
        if (this.#dropped || kinds.size > KINDS_MAX) return false;
        const from = after === undefined ? {} : { after };
        const subjects = await budget.loads.run(tenantId, READ_BYTES, clock, async () => {
          await turnOf(budget.turns, tenantId, READ_MS);
          const query = { tenantId, bucket, limit: SUBJECTS_PER_READ, ...from };
          return readFromStore(store.listSubjects(query, storeDeadline(clock)));
        });
        for (const subject of subjects) this.add(subject);
        after = subjects.length < SUBJECTS_PER_READ ? undefined : subjects.at(-1);
      } while (after !== undefined);
    }
    return !this.#dropped && kinds.size <= KINDS_MAX;
  }
}
