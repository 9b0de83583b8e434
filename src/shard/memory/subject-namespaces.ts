// The namespaces of the subjects of a tenant's grants: only objects of these are groups or containers, whatever else a
// subject holds. Read once in a tenure, at the first question, by skips: the first subject, and then the first one
// behind its namespace. Invariant: what is known has the namespace of every subject with a grant; it never shrinks.

import type { Clock } from '../../core/async/clock.ts';
import { inParallel } from '../../core/async/in-parallel.ts';
import { type Turns, turnOf } from '../../core/async/turns.ts';
import type { TenantId } from '../../core/ids.ts';
import { SUBJECT_BUCKETS } from '../../core/slots.ts';
import { EVERY_SUBJECT, namespaceOf } from '../../core/tuples.ts';
import type { StateReads } from '../../store/store.ts';
import { readFromStore, storeDeadline } from '../store-calls.ts';
import type { LoadGate } from './load-gate.ts';

/** A tenant with more is enumerated whole. */
const NAMESPACES_MAX = 1000;
/** Estimated bytes of a namespace, and of a read. */
const NAMESPACE_BYTES = 120;
const READ_BYTES = 1024;
const READ_MS = 0.1;
const BUCKETS_AT_ONCE = 4;
/** Between a subject `ns:…` and the subjects behind its namespace. */
const BEHIND = ';';

export interface SubjectNamespacesDependencies {
  readonly store: StateReads;
  readonly clock: Clock;
  readonly budget: { readonly loads: LoadGate; readonly turns: Turns };
  /** Resolves when the state tables contain every commit so far. */
  readonly applied: () => Promise<void>;
}

export class SubjectNamespaces {
  readonly #tenantId: TenantId;
  readonly #dependencies: SubjectNamespacesDependencies;
  readonly #hold: (bytes: number) => void;
  /** From the beginning of the read on, with those of commits. */
  #names = new Set<string>();
  #isComplete = false;
  #loading: Promise<void> | undefined;

  /** `hold`: is told how many more bytes it takes. */
  constructor(tenantId: TenantId, hold: (bytes: number) => void, dependencies: SubjectNamespacesDependencies) {
    this.#tenantId = tenantId;
    this.#hold = hold;
    this.#dependencies = dependencies;
  }

  /** Undefined: they have not been read yet. `too-many`: they are not known. */
  get known(): ReadonlySet<string> | 'too-many' | undefined {
    if (this.#names.size > NAMESPACES_MAX) return 'too-many';
    return this.#isComplete ? this.#names : undefined;
  }

  /** A subject has a grant. */
  add(subject: string): void {
    if (subject === EVERY_SUBJECT) return;
    const namespace = namespaceOf(subject);
    if (this.#names.has(namespace) || this.#names.size > NAMESPACES_MAX) return;
    this.#names.add(namespace);
    this.#hold(NAMESPACE_BYTES);
  }

  /** One read for all that ask. */
  load(): Promise<void> {
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  drop(): void {
    this.#names.clear();
    this.#isComplete = false;
  }

  async #read(): Promise<void> {
    const { clock, budget, applied } = this.#dependencies;
    await applied();
    const buckets = Array.from({ length: SUBJECT_BUCKETS }, (_, bucket) => bucket);
    await inParallel(buckets, BUCKETS_AT_ONCE, async (bucket) => {
      let after: string | undefined;
      do {
        const from = after;
        const subject = await budget.loads.run(this.#tenantId, READ_BYTES, clock, async () => {
          await turnOf(budget.turns, this.#tenantId, READ_MS);
          return this.#firstIn(bucket, from);
        });
        if (subject === undefined) return;
        this.add(subject);
        after = subject === EVERY_SUBJECT ? subject : `${namespaceOf(subject)}${BEHIND}`;
      } while (this.known !== 'too-many');
    });
    this.#isComplete = true;
  }

  async #firstIn(bucket: number, after: string | undefined): Promise<string | undefined> {
    const { store, clock } = this.#dependencies;
    const query = { tenantId: this.#tenantId, bucket, limit: 1, ...(after === undefined ? {} : { after }) };
    const [subject] = await readFromStore(store.listSubjects(query, storeDeadline(clock)));
    return subject;
  }
}
