// The states of a tenant with rules, and the judge of what was answered about them. One client writes, each write under
// the condition that its version is the last one, so the states are a sequence, and a write whose outcome is unknown is
// settled by the next. An answer is right if it is that of the definition (test/kit/naive-rules.ts) in one state that
// was the tenant's between the question and the answer, and no earlier one than answers before the question rest on:
// one state for a whole call, so no chain of grants that never existed at once authorizes anything.

import { compareUtf8, type Tuple } from '../../src/core/tuples.ts';
import type { NamedTuple } from '../../src/rules/questions.ts';
import { NO_RULES, type RuleSet } from '../../src/rules/rule-set.ts';
import { naiveHeld } from '../kit/naive-rules.ts';
import { EVERYONE, FAR, isFar, SUBJECTS_LISTED, textOfTuple } from './ruled-universe.ts';

export interface RuledState {
  /** Different in every state whose grants are others, and in every one whose rules are. */
  readonly grantsVersion: number;
  readonly rulesVersion: number;
  readonly ruleSet: RuleSet;
  readonly grants: ReadonlyMap<string, Tuple>;
}

export interface RuledVersion {
  readonly state: RuledState;
  readonly before: RuledVersion | undefined;
  /** It was asked for then. */
  readonly from: number;
  /** It was replaced by then. */
  until: number;
}

export interface ListQuestion {
  readonly of: string;
  readonly name: string;
  /** Grants alone. */
  readonly direct: boolean;
  /** Of subjects: also the object's own groups. */
  readonly includeSelf: boolean;
  readonly prefix: string;
  readonly after: string;
  readonly limit: number;
}

export type Question =
  | { readonly kind: 'checks'; readonly checks: readonly NamedTuple[] }
  | { readonly kind: 'explain'; readonly check: NamedTuple }
  | ({ readonly kind: 'objects' | 'holders' } & ListQuestion);

export type RuledAnswer =
  | { readonly kind: 'authorized'; readonly authorized: readonly boolean[] }
  | { readonly kind: 'because'; readonly authorized: boolean; readonly chain: readonly Tuple[] }
  | { readonly kind: 'page'; readonly items: readonly string[]; readonly more: boolean }
  /** No rule defines the name. */
  | { readonly kind: 'undefined' }
  | { readonly kind: 'too-large' };

export interface Observation {
  readonly client: string;
  readonly question: Question;
  readonly answer: RuledAnswer;
  readonly from: number;
  readonly until: number;
}

/** Of one run. The first ones tell enough. */
const FAILURES_MAX = 3;

type Held = ReadonlySet<string>;

const heldIn = new WeakMap<RuledState, Map<string, Held>>();

/** What the subject holds; `named`: by itself, and not as one of all of its namespace. */
function heldBy(state: RuledState, subject: string, named = false): Held {
  const known = heldIn.get(state) ?? new Map<string, Held>();
  heldIn.set(state, known);
  const key = `${subject} ${named}`;
  let held = known.get(key);
  if (held === undefined) {
    const all = [...state.grants.values(), ...(isFar(subject) ? FAR.chain : [])];
    const grants = named ? all.filter((grant) => subject === EVERYONE || grant.subject !== EVERYONE) : all;
    held = naiveHeld(state.ruleSet, grants, subject);
    known.set(key, held);
  }
  return held;
}

const holds = (state: RuledState, { subject, relation, object }: NamedTuple): boolean =>
  heldBy(state, subject).has(`${relation} ${object}`);

const BUILT_IN = /^(?:owner|admin|manager|editor|commenter|viewer|member|guest|parent)$/;

const defines = ({ ruleSet }: RuledState, name: string): boolean =>
  BUILT_IN.test(name) ||
  ruleSet.relations.some((relation) => relation === name) ||
  ruleSet.rules.some((rule) => rule.name === name);

const reachesFar = (state: RuledState): boolean =>
  ['viewer', 'can_read'].some((relation) => holds(state, { subject: FAR.subject, relation, object: FAR.object }));

const namesIn = (question: Question): readonly string[] => {
  if (question.kind === 'checks') return question.checks.map(({ relation }) => relation);
  return [question.kind === 'explain' ? question.check.relation : question.name];
};

const isFarQuestion = (question: Question): boolean => {
  if (question.kind === 'checks') return question.checks.some(({ subject }) => isFar(subject));
  return isFar(question.kind === 'explain' ? question.check.subject : question.of);
};

/** Whether the answer is right in this state. */
export function isAnswerIn(state: RuledState, question: Question, answer: RuledAnswer): boolean {
  if (answer.kind === 'undefined') return !namesIn(question).every((name) => defines(state, name));
  if (!namesIn(question).every((name) => defines(state, name))) return false;
  // The bound is no answer: only who holds something too far away may meet it.
  if (answer.kind === 'too-large') return isFarQuestion(question) && reachesFar(state);
  switch (question.kind) {
    case 'checks':
      return (
        answer.kind === 'authorized' &&
        question.checks.every((check, index) => holds(state, check) === answer.authorized[index])
      );
    case 'explain':
      return answer.kind === 'because' && isReason(state, question.check, answer.authorized, answer.chain);
    case 'objects':
      return answer.kind === 'page' && isPageOfObjects(state, question, answer.items, answer.more);
    case 'holders':
      return answer.kind === 'page' && isPageOfHolders(state, question, answer.items, answer.more);
  }
}

/** The grants of a chain exist, and suffice. */
function isReason(state: RuledState, check: NamedTuple, authorized: boolean, chain: readonly Tuple[]): boolean {
  if (holds(state, check) !== authorized) return false;
  if (!authorized) return chain.length === 0;
  const existing = new Map([...state.grants, ...FAR.chain.map((tuple) => [textOfTuple(tuple), tuple] as const)]);
  if (!chain.every((tuple) => existing.has(textOfTuple(tuple)))) return false;
  return naiveHeld(state.ruleSet, chain, check.subject).has(`${check.relation} ${check.object}`);
}

const isAscending = (items: readonly string[]): boolean =>
  items.every((item, index) => index === 0 || compareUtf8(items[index - 1] ?? '', item) < 0);

/** Behind `after`, and, where more is to follow, not behind the last item. */
function inPage({ prefix, after }: ListQuestion, items: readonly string[], more: boolean): (text: string) => boolean {
  const last = more ? items.at(-1) : undefined;
  return (text) =>
    text.startsWith(prefix) && compareUtf8(text, after) > 0 && (last === undefined || compareUtf8(text, last) <= 0);
}

function isPageOfObjects(state: RuledState, question: ListQuestion, items: readonly string[], more: boolean): boolean {
  const { of, name, direct } = question;
  const start = `${name} `;
  const facts = direct
    ? [...state.grants.values()].filter(({ subject, relation }) => subject === of && relation === name)
    : [...heldBy(state, of)]
        .filter((fact) => fact.startsWith(start))
        .map((fact) => ({ object: fact.slice(start.length) }));
  const right = facts.map(({ object }) => object).filter(inPage(question, items, more));
  return isAscending(items) && items.join(' ') === right.sort(compareUtf8).join(' ');
}

/**
 * Whoever is listed holds it, and whoever holds it by itself is listed; the object's own groups only if they are asked
 * for, or for a grant to them.
 */
function isPageOfHolders(state: RuledState, question: ListQuestion, items: readonly string[], more: boolean): boolean {
  const { of, name, direct, includeSelf } = question;
  const fact = `${name} ${of}`;
  const isListed = inPage(question, items, more);
  if (!isAscending(items) || !items.every(isListed)) return false;
  if (direct) {
    const grants = [...state.grants.values()].filter(({ object, relation }) => object === of && relation === name);
    const right = grants.map(({ subject }) => subject).filter(isListed);
    return items.join(' ') === right.sort(compareUtf8).join(' ');
  }
  const listed = new Set(items);
  const isOwn = (subject: string): boolean => !includeSelf && subject.startsWith(`${of}#`);
  const granted = new Set(Array.from(state.grants.values(), ({ subject }) => subject));
  return (
    items.every((subject) => heldBy(state, subject, true).has(fact) && (!isOwn(subject) || granted.has(subject))) &&
    SUBJECTS_LISTED.every(
      (each) => listed.has(each) || !isListed(each) || isOwn(each) || !heldBy(state, each, true).has(fact),
    )
  );
}

export class RuledHistory {
  readonly versions: RuledVersion[];
  readonly observations: Observation[] = [];

  constructor(now: number) {
    const state = { grantsVersion: 0, rulesVersion: 0, ruleSet: NO_RULES, grants: new Map() };
    this.versions = [{ state, before: undefined, from: now, until: Number.POSITIVE_INFINITY }];
  }

  /** The last one that is known to have been written. */
  get last(): RuledVersion {
    const last = this.versions.at(-1);
    if (last === undefined) throw new Error('There is a version from the beginning on.');
    return last;
  }

  /** The version, and so all before it, has been written by this time. */
  written(version: RuledVersion, by: number): void {
    const path: RuledVersion[] = [];
    for (let at: RuledVersion | undefined = version; at !== undefined && at !== this.last; at = at.before) {
      path.unshift(at);
      if (at.before !== undefined) at.before.until = Math.min(at.before.until, by);
    }
    this.versions.push(...path);
  }

  /** What no sequence of states explains, for a person. */
  failures(): string[] {
    const failures: string[] = [];
    const byStart = this.observations.toSorted((left, right) => left.from - right.from);
    const byEnd = this.observations.toSorted((left, right) => left.until - right.until);
    const restsOn = new Map<Observation, number>();
    let ended = 0;
    /** Of answers before the question: the last version that one rests on. */
    let floor = 0;
    for (const observation of byStart) {
      for (let each = byEnd[ended]; each !== undefined && each.until < observation.from; each = byEnd[ended]) {
        floor = Math.max(floor, restsOn.get(each) ?? 0);
        ended += 1;
      }
      const { question, answer, from, until } = observation;
      const right = (index: number): boolean => {
        const version = this.versions[index];
        return version !== undefined && isAnswerIn(version.state, question, answer);
      };
      // The first one is the best choice: it leaves most to the answers that follow.
      let found = this.#firstSince(from, floor);
      while (found < this.versions.length && (this.versions[found]?.from ?? until) < until && !right(found)) found += 1;
      if (found < this.versions.length && (this.versions[found]?.from ?? until) < until)
        restsOn.set(observation, found);
      else failures.push(this.#complaint(observation, floor));
      if (failures.length >= FAILURES_MAX) break;
    }
    return failures;
  }

  #firstSince(from: number, floor: number): number {
    let index = floor;
    while (index < this.versions.length && (this.versions[index]?.until ?? from) <= from) index += 1;
    return index;
  }

  #complaint({ client, question, answer, from, until }: Observation, floor: number): string {
    const first = this.#firstSince(from, floor);
    const last = this.versions.findLastIndex((version) => version.from < until);
    const elsewhere = this.versions.flatMap(({ state }, index) => (isAnswerIn(state, question, answer) ? [index] : []));
    const nearest = elsewhere.toSorted((left, right) => Math.abs(left - first) - Math.abs(right - first)).slice(0, 3);
    return (
      `${client}: ${JSON.stringify(question)} is answered ${JSON.stringify(answer)} between ${from.toFixed(3)} and ` +
      `${until.toFixed(3)}, in versions ${first} to ${last}, where that is not so; it is in ${nearest.join(', ') || 'none'}`
    );
  }
}
