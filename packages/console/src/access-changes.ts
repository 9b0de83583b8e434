// What a revocation would change: which subjects lose a name on which objects, and which gain one, where `but_not` took
// it away. Every subject whom the grants can concern is listed with them and without them, within bounds. Invariant: if
// nothing is said to be open, these are all the changes at this moment.

import type { Clock } from '../../../src/core/async/clock.ts';
import { inParallel } from '../../../src/core/async/in-parallel.ts';
import type { WithoutGrants } from '../../../src/core/call-context.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import { PAGE_LIMIT_MAX } from '../../../src/core/limits.ts';
import { compareUtf8, type Grant, namespaceOf } from '../../../src/core/tuples.ts';
import type { OperatorTenantSession, RequestContext } from '../../../src/front/front.ts';
import { parseGroup } from '../../../src/rules/compiled-rules.ts';
import { isGate, type NameElement, namesInRule, type RuleSet, SELF, textOfName } from '../../../src/rules/rule-set.ts';
import { namesToAsk } from '../../../src/rules/rules-text.ts';
import type { ResultPage } from '../../../src/shard/shard.ts';

/** Subjects that are compared: a person reads no more of them, and each costs some listings. */
const SUBJECTS_MAX = 50;
/** Pairs of listings, of a few milliseconds at most. */
const COMPARISONS_MAX = 500;
const AT_ONCE_MAX = 8;
/** How long a person waits for the page. */
const TIME_MAX_MS = 3000;

/** A subject that loses or gains a name. */
export interface AccessChange {
  readonly subject: string;
  readonly name: string;
  readonly objects: readonly string[];
}

/**
 * Why there may be more changes. `subjects`: more of them than are compared. `everyone`: those of a public namespace
 * cannot be listed. `gates`: rules with gates let the grants concern others too. `objects`: a subject holds a name on
 * more of them than a page lists. `context`: a condition depends on what only a request brings along. `failed`: a
 * listing was too large, or not answered.
 */
export type OpenPoint = 'subjects' | 'everyone' | 'gates' | 'objects' | 'context' | 'failed';

export interface AccessChanges {
  readonly lost: readonly AccessChange[];
  readonly gained: readonly AccessChange[];
  /** How many subjects were compared. */
  readonly subjects: number;
  readonly open: ReadonlySet<OpenPoint>;
}

export interface Revocation {
  /** What all grants to be revoked have in common. */
  readonly without: WithoutGrants;
  /** The grants, or the first of them. */
  readonly grants: readonly Pick<Grant, 'subject' | 'relation' | 'object'>[];
  /** There are more. */
  readonly isCut: boolean;
}

interface ComparisonContext {
  readonly session: OperatorTenantSession;
  readonly clock: Clock;
  readonly context: () => RequestContext;
  readonly ruleSet: RuleSet;
  readonly open: Set<OpenPoint>;
  /** By the monotonic clock. */
  readonly endMs: number;
}

const hasGates = ({ rules }: RuleSet): boolean =>
  rules.some(({ anyOf }) => anyOf.some((element) => isGate(element) || element.all === true));

/** The names that may depend on grants of these relations. */
function namesConcerned(ruleSet: RuleSet, relations: ReadonlySet<string>): readonly string[] {
  // Whatever is granted to a group depends on who is in it.
  if (ruleSet.groups) return namesToAsk(ruleSet);
  const uses = ruleSet.rules.flatMap((rule) =>
    namesInRule(rule).flatMap(({ name, from }) => [name, from ?? name].map((used) => ({ used, name: rule.name }))),
  );
  const following = Map.groupBy(uses, ({ used }) => used);
  const names = new Set(relations);
  // A set also iterates over what is added meanwhile.
  for (const each of names) for (const { name } of following.get(each) ?? []) names.add(name);
  return [...names];
}

/** Undefined: it cannot be known, which is noted. */
async function unlessOpen<Answer>(open: Set<OpenPoint>, answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof GrantdError) || error.code === 'internal') throw error;
    // Nothing defines the name, so nobody holds it.
    if (error.code !== 'invalid-relation') open.add(error.code === 'context-incomplete' ? 'context' : 'failed');
    return undefined;
  }
}

/** The subjects whom a grant concerns besides its own: who is in its group, and who holds a name on its entity. */
class ConcernedSubjects {
  readonly #of: ComparisonContext;
  /** The subjects of the grants themselves. */
  readonly own = new Set<string>();
  readonly others = new Set<string>();
  /** By object and name: those who hold the name on it are concerned. */
  readonly #holders = new Map<string, { readonly object: string; readonly relation: string }>();
  /** By relation: the elements `N from relation`. */
  readonly #inheritances: ReadonlyMap<string | undefined, readonly NameElement[]>;
  /** Some are concerned by a name on the entity that a grant has for a subject. */
  hasHeirs = false;

  constructor(of: ComparisonContext) {
    this.#of = of;
    const elements = of.ruleSet.rules.flatMap(namesInRule);
    const distinct = new Map(elements.map((element) => [textOfName(element), element]));
    this.#inheritances = Map.groupBy(distinct.values(), ({ from }) => from);
  }

  #add(into: Set<string>, subject: string): void {
    const { ruleSet, open } = this.#of;
    if (subject.endsWith(':*') && ruleSet.public.includes(namespaceOf(subject))) open.add('everyone');
    if (this.own.has(subject) || this.others.has(subject)) return;
    if (this.own.size + this.others.size >= SUBJECTS_MAX) open.add('subjects');
    else into.add(subject);
  }

  #ask(object: string, relation: string): void {
    this.#holders.set(`${object} ${relation}`, { object, relation });
  }

  addGrant({ subject, relation }: Revocation['grants'][number]): void {
    const { ruleSet, open } = this.#of;
    this.#add(this.own, subject);
    const group = ruleSet.groups ? parseGroup(subject) : undefined;
    if (group !== undefined) this.#ask(group.object, group.name);
    for (const { name, all } of this.#inheritances.get(relation) ?? []) {
      // Without this entity, the name may be held on each of those that are left.
      if (all === true) open.add('gates');
      if (name === SELF) continue;
      this.hasHeirs = true;
      this.#ask(subject, name);
    }
  }

  async addOthers(): Promise<void> {
    const { session, clock, context, ruleSet, open, endMs } = this.#of;
    if (this.#holders.size > 0 && hasGates(ruleSet)) open.add('gates');
    for (const { object, relation } of this.#holders.values()) {
      if (clock.monotonicMs() > endMs) open.add('subjects');
      if (open.has('subjects')) return;
      const query = {
        object,
        relation,
        namespace: undefined,
        includeSelf: true,
        limit: SUBJECTS_MAX,
        cursor: undefined,
      };
      const page = await unlessOpen(open, session.call('listHolders', context(), query));
      if (page?.nextCursor !== undefined) open.add('subjects');
      for (const subject of [...(page?.items ?? []), ...(page?.excluded ?? [])]) this.#add(this.others, subject);
    }
  }
}

/** The items of one page that the other lacks, as far as both pages go. */
function missingIn(other: ResultPage<string>, page: ResultPage<string>): readonly string[] {
  const known = new Set(other.items);
  const ends = [page, other]
    .filter(({ nextCursor }) => nextCursor !== undefined)
    .map(({ items }) => items.at(-1) ?? '');
  return page.items.filter((item) => !known.has(item) && ends.every((end) => compareUtf8(item, end) <= 0));
}

/** Compares what the subjects hold, until the bounds of time and number. */
class Comparison {
  readonly #of: ComparisonContext;
  readonly #without: WithoutGrants;
  readonly lost: AccessChange[] = [];
  readonly gained: AccessChange[] = [];
  readonly compared = new Set<string>();
  #left = COMPARISONS_MAX;

  constructor(of: ComparisonContext, without: WithoutGrants) {
    this.#of = of;
    this.#without = without;
  }

  async compare(subjects: Iterable<string>, names: Iterable<string>): Promise<void> {
    const all = [...names];
    const pairs = Array.from(subjects).flatMap((subject) => all.map((name) => ({ subject, name })));
    const compared = pairs.slice(0, this.#left);
    if (compared.length < pairs.length) this.#of.open.add('subjects');
    this.#left -= compared.length;
    await inParallel(compared, AT_ONCE_MAX, ({ subject, name }) => this.#compareOne(subject, name));
  }

  async #compareOne(subject: string, name: string): Promise<void> {
    const { session, clock, context, open, endMs } = this.#of;
    if (clock.monotonicMs() > endMs) {
      open.add('subjects');
      return;
    }
    this.compared.add(subject);
    const query = { subject, relation: name, namespace: undefined, limit: PAGE_LIMIT_MAX, cursor: undefined };
    const [before, after] = await Promise.all([
      unlessOpen(open, session.call('listObjects', context(), query)),
      unlessOpen(open, session.call('listObjects', context(), { ...query, without: this.#without })),
    ]);
    if (before === undefined || after === undefined) return;
    if (before.nextCursor !== undefined || after.nextCursor !== undefined) open.add('objects');
    const [lost, gained] = [missingIn(after, before), missingIn(before, after)];
    if (lost.length > 0) this.lost.push({ subject, name, objects: lost });
    if (gained.length > 0) this.gained.push({ subject, name, objects: gained });
  }
}

const bySubject = (one: AccessChange, other: AccessChange): number =>
  compareUtf8(one.subject, other.subject) || compareUtf8(one.name, other.name);

export async function accessChanges(
  of: Omit<ComparisonContext, 'open' | 'endMs'>,
  { without, grants, isCut }: Revocation,
): Promise<AccessChanges> {
  const { ruleSet } = of;
  const open = new Set<OpenPoint>(isCut ? ['subjects'] : []);
  const comparing = { ...of, open, endMs: of.clock.monotonicMs() + TIME_MAX_MS };
  const concerned = new ConcernedSubjects(comparing);
  for (const grant of grants) concerned.addGrant(grant);
  const comparison = new Comparison(comparing, without);
  const names = namesConcerned(ruleSet, new Set(grants.map(({ relation }) => relation)));
  await comparison.compare(concerned.own, names);
  await concerned.addOthers();
  // Members of a group hold all that the group holds: where names follow by unions alone, no member loses more than it.
  const isUnion = !hasGates(ruleSet) && ruleSet.conditions.length === 0 && !concerned.hasHeirs && !open.has('failed');
  const rest = isUnion && !open.has('objects') ? new Set(comparison.lost.map(({ name }) => name)) : names;
  await comparison.compare(concerned.others, rest);
  const { lost, gained, compared } = comparison;
  return { lost: lost.sort(bySubject), gained: gained.sort(bySubject), subjects: compared.size, open };
}
