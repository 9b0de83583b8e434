// Checks by name, and those of tenants with rules: from pages in memory if possible, otherwise as soon as they are
// loaded.

import { assert } from '../../core/assert.ts';
import { relationOf, type TupleColumns } from '../../core/tuples.ts';
import { decideNow, evaluateChecks } from '../evaluation/evaluate-checks.ts';
import type { BulkAnswer, CheckAnswer, NamedAnswer, NamedChecks } from '../shard.ts';
import type { HandleCalls, HandleCallsDependencies } from './handle-calls.ts';
import type { Handle } from './handles.ts';
import { demandIndexed } from './listings.ts';

export interface RuledChecksDependencies extends HandleCallsDependencies {
  readonly lookups: { hits: number; misses: number };
}

export class RuledChecks {
  readonly #dependencies: RuledChecksDependencies;
  readonly #calls: HandleCalls;

  constructor(dependencies: RuledChecksDependencies, calls: HandleCalls) {
    this.#dependencies = dependencies;
    this.#calls = calls;
  }

  /** A check of a tenant with rules. */
  check(handle: Handle, subject: string, relation: number, object: string): CheckAnswer | Promise<CheckAnswer> {
    const page = handle.memory.pages.get(subject);
    // Whatever the rules are, a grant counts.
    if (page?.holds(relation, object) === true) {
      page.referenced = true;
      this.#dependencies.lookups.hits += 1;
      return true;
    }
    const name = relationOf(relation);
    assert(name !== undefined, 'a check on the wire has a built-in relation');
    const checks: NamedChecks = { checks: [{ subject, relation: name, object }], explain: false, list: '' };
    const answers = this.#decideNow(handle, checks);
    return answers === undefined
      ? this.#evaluate(handle, checks).then((evaluated) => single(handle, evaluated))
      : single(handle, answers);
  }

  async checkBulk(handle: Handle, { subjects, relations, objects }: TupleColumns): Promise<BulkAnswer> {
    const named = subjects.map((subject, index) => {
      const relation = relationOf(relations[index] ?? 0);
      assert(relation !== undefined, 'a check on the wire has a built-in relation');
      return { subject, relation, object: objects[index] ?? '' };
    });
    const checks: NamedChecks = { checks: named, explain: false, list: 'checks' };
    return this.#decideNow(handle, checks) ?? (await this.#evaluate(handle, checks));
  }

  /** Of any tenant. Rejects as `invalid-relation` for a name that no rule of it defines. */
  async checkNamed(handle: Handle, checks: NamedChecks): Promise<NamedAnswer> {
    const now =
      checks.explain || handle.memory.tenant.rulesRevision === undefined ? undefined : this.#decideNow(handle, checks);
    return now ?? this.#evaluate(handle, checks);
  }

  #decideNow(handle: Handle, checks: NamedChecks): NamedAnswer | undefined {
    demandIndexed(handle);
    const answers = decideNow(handle, checks);
    if (answers !== undefined) this.#dependencies.lookups.hits += checks.checks.length;
    return answers;
  }

  async #evaluate(handle: Handle, checks: NamedChecks): Promise<NamedAnswer> {
    if (handle.memory.tenant.rulesRevision !== undefined) demandIndexed(handle);
    this.#dependencies.lookups.misses += checks.checks.length;
    const { clock } = this.#dependencies;
    const answers = await evaluateChecks({ ...this.#calls.listing(handle), clock }, checks);
    this.#calls.handles.assertGood(handle);
    return answers;
  }
}

/** Only where grants of the tenant expire does it matter when exactly it was decided. */
function single({ memory }: Handle, { authorized: [authorized], checkedAtMs }: NamedAnswer): CheckAnswer {
  assert(authorized !== undefined, 'a check has an answer');
  return memory.nextExpiryMs === undefined ? authorized : { authorized, checkedAtMs };
}
