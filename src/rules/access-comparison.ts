// Compares what subjects hold in two states of a tenant: now, and after a change of grants or rules. Invariant: a
// difference is reported only if both states are decided; a name that is not, on an object in question, is noted.

import type { SubjectChanges } from './access-changes.ts';
import type { SearchLimits } from './graph.ts';
import { type AccessState, HeldAccess } from './held-access.ts';

/** What the change may concern. */
export interface AccessConcern {
  /** The objects, if they are known. */
  readonly objects: ReadonlyMap<string, unknown> | undefined;
  readonly concerns: (name: string, object: string) => boolean;
  /** Groups of which it is asked who is in them. */
  readonly groups: ReadonlySet<string>;
}

/** `missing`: of grants in memory. `exceeded`: a bound. */
export type SubjectOutcome = SubjectChanges | 'missing' | 'exceeded';

/** Of creating the searches of one subject, in entities. */
const SPENT_PER_SUBJECT = 20;
/** Of an object that has been looked at already. */
const SPENT_PER_REPEATED = 1 / 8;

export class AccessComparison {
  readonly #before: AccessState;
  readonly #after: AccessState;
  readonly #limits: SearchLimits;
  readonly #concern: AccessConcern;
  /** Subjects and objects on which the results so far rest; of an object whose groups they rest on, also with a `#`. */
  readonly visited = new Set<string>();
  /** Something in question hangs on conditions, or on itself. */
  isUndecided = false;
  #spentBefore = 0;
  #looked = 0;
  #present: readonly HeldAccess[] = [];

  constructor(before: AccessState, after: AccessState, limits: SearchLimits, concern: AccessConcern) {
    this.#before = before;
    this.#after = after;
    this.#limits = limits;
    this.#concern = concern;
  }

  /** Grows with the time that it has taken. */
  get spent(): number {
    return this.#present.reduce((sum, { spent }) => sum + spent, this.#spentBefore + this.#looked);
  }

  /** Whether a grant matters to the results so far, or to the one that is being found. */
  restsOn(subject: string, object: string): boolean {
    const group = subject.slice(0, subject.lastIndexOf('#') + 1);
    const isVisited = [subject, object, group].some((each) => this.visited.has(each));
    return isVisited || this.#present.some((each) => each.follows(subject));
  }

  *compare(subject: string): Generator<void, SubjectOutcome> {
    this.#spentBefore = this.spent - this.#looked + SPENT_PER_SUBJECT;
    const of = (state: AccessState): HeldAccess => new HeldAccess(state, this.#limits, subject, this.visited);
    const [before, after] = [of(this.#before), of(this.#after)];
    this.#present = [before, after];
    yield* before.search();
    yield* after.search();
    const [lost, gained] = [new Map<string, string[]>(), new Map<string, string[]>()];
    for (const object of this.#objectsOf(before, after)) {
      this.#looked += object === undefined ? SPENT_PER_REPEATED : 1;
      yield;
      if (object === undefined) continue;
      for (const name of this.#namesOn(object, before, after)) {
        const [had, has] = [yield* before.holds(name, object), yield* after.holds(name, object)];
        if (had === undefined || has === undefined) this.isUndecided ||= isDecidable(before) && isDecidable(after);
        else if (had !== has) addTo(had ? lost : gained, name, object);
      }
    }
    const groups = yield* this.#groupsOf(before);
    if (before.misses || after.misses) return 'missing';
    if (before.exceeded !== undefined || after.exceeded !== undefined) return 'exceeded';
    return { subject, isGroup: this.#before.rules.groupOf(subject) !== undefined, lost, gained, groups };
  }

  /** Undefined: one that came before. */
  *#objectsOf(before: HeldAccess, after: HeldAccess): Iterable<string | undefined> {
    const { objects } = this.#concern;
    if (objects !== undefined && objects.size < before.size) yield* objects.keys();
    else {
      yield* before.objects;
      for (const object of after.objects) yield before.namesOn(object).length === 0 ? object : undefined;
    }
  }

  #namesOn(object: string, before: HeldAccess, after: HeldAccess): readonly string[] {
    const [had, has] = [before.namesOn(object), after.namesOn(object)];
    // Equal sets of names of the same rules are the same array.
    if (had === has && before.isPlain && after.isPlain) return [];
    const names = had === has ? had : [...new Set([...had, ...has])];
    // A state is its object's, and nobody's access.
    const isState = (name: string): boolean =>
      [this.#before, this.#after].some(({ rules }) => rules.isState(rules.numberOf(name) ?? 0));
    return names.filter((name) => this.#concern.concerns(name, object) && !isState(name));
  }

  *#groupsOf(before: HeldAccess): Generator<void, readonly string[]> {
    const groups: string[] = [];
    for (const group of this.#concern.groups) {
      this.#looked += 1;
      yield;
      const { object, name } = this.#before.rules.groupOf(group) ?? {};
      if (object !== undefined && name !== undefined && (yield* before.holds(name, object)) === true)
        groups.push(group);
    }
    return groups;
  }
}

/** Whether what is undefined is so for good. */
const isDecidable = ({ misses, exceeded }: HeldAccess): boolean => !misses && exceeded === undefined;

function addTo(changes: Map<string, string[]>, name: string, object: string): void {
  const objects = changes.get(name);
  if (objects === undefined) changes.set(name, [object]);
  else objects.push(object);
}
