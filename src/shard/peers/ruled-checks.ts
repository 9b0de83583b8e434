// Checks by name, and those of tenants with rules: from pages in memory if possible, otherwise as soon as they are
// loaded.

import { assert } from '../../core/assert.ts';
import { relationOf, type TupleColumns } from '../../core/tuples.ts';
import type { NamedTuple } from '../../rules/questions.ts';
import { decideNow, evaluateChecks, listHeldNames } from '../evaluation/evaluate-checks.ts';
import { checkKey } from '../memory/answer-cache.ts';
import type { Lookups } from '../memory/lookups.ts';
import type { BulkAnswer, CheckAnswer, NamedAnswer, NamedChecks, NamesQuery, ResultPage } from '../shard.ts';
import type { HandleCalls, HandleCallsDependencies } from './handle-calls.ts';
import type { Handle } from './handles.ts';
import { cursorAt, positionOf } from './listings.ts';

export interface RuledChecksDependencies extends HandleCallsDependencies {
  readonly lookups: Lookups;
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
      this.#dependencies.lookups.hit(handle, page);
      return true;
    }
    const known = handle.memory.answers.check(checkKey(subject, relation, object));
    if (known !== undefined) {
      this.#dependencies.lookups.hits += 1;
      return single(handle, known, handle.tenure.slotTime.nowMs);
    }
    const name = relationOf(relation);
    assert(name !== undefined, 'a check on the wire has a built-in relation');
    const checks = strictly([{ subject, relation: name, object }], '');
    const answers = this.#decideNow(handle, checks);
    return answers === undefined
      ? this.#evaluate(handle, checks).then((evaluated) => onlyOf(handle, evaluated))
      : onlyOf(handle, answers);
  }

  async checkBulk(handle: Handle, { subjects, relations, objects }: TupleColumns): Promise<BulkAnswer> {
    const named = subjects.map((subject, index) => {
      const relation = relationOf(relations[index] ?? 0);
      assert(relation !== undefined, 'a check on the wire has a built-in relation');
      return { subject, relation, object: objects[index] ?? '' };
    });
    const checks = strictly(named, 'checks');
    return this.#decideNow(handle, checks) ?? (await this.#evaluate(handle, checks));
  }

  /** Of any tenant. Rejects as `invalid-relation` for a name that no rule of it defines, unless it is to be denied. */
  async checkNamed(handle: Handle, checks: NamedChecks): Promise<NamedAnswer> {
    const now =
      checks.explain || handle.memory.tenant.rulesRevision === undefined ? undefined : this.#decideNow(handle, checks);
    return now ?? this.#evaluate(handle, checks);
  }

  /** Of any tenant. */
  async listNames(handle: Handle, { subject, object, limit, cursor }: NamesQuery): Promise<ResultPage<string>> {
    const { memory } = handle;
    const scope = ['names', memory.tenantId, subject, object];
    const after = positionOf(this.#dependencies, scope, cursor)?.[0] ?? '';
    const ruled = { ...this.#calls.listing(handle), clock: this.#dependencies.clock };
    const held = await listHeldNames(ruled, { subject, object }, after);
    this.#calls.handles.assertGood(handle);
    const items = held.slice(0, limit);
    const last = held.length > limit ? items.at(-1) : undefined;
    return { items, nextCursor: last === undefined ? undefined : cursorAt(this.#dependencies, scope, [last]) };
  }

  #decideNow(handle: Handle, checks: NamedChecks): NamedAnswer | undefined {
    const answers = decideNow(handle, checks);
    if (answers !== undefined) this.#dependencies.lookups.hits += checks.checks.length;
    return answers;
  }

  async #evaluate(handle: Handle, checks: NamedChecks): Promise<NamedAnswer> {
    this.#dependencies.lookups.misses += checks.checks.length;
    const { clock } = this.#dependencies;
    const answers = await evaluateChecks({ ...this.#calls.listing(handle), clock }, checks);
    this.#calls.handles.assertGood(handle);
    return answers;
  }
}

const strictly = (checks: readonly NamedTuple[], list: string): NamedChecks => ({
  checks,
  list,
  explain: false,
  denyUndefined: false,
});

function onlyOf(handle: Handle, { authorized: [authorized], checkedAtMs }: NamedAnswer): CheckAnswer {
  assert(authorized !== undefined, 'a check has an answer');
  return single(handle, authorized, checkedAtMs);
}

/** Only where grants of the tenant expire does it matter when exactly it was decided. */
const single = ({ memory }: Handle, authorized: boolean, checkedAtMs: number): CheckAnswer =>
  memory.nextExpiryMs === undefined ? authorized : { authorized, checkedAtMs };
