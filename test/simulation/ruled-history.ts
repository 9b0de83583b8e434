// The states of a tenant with rules, and the judge of what was answered about them. One client writes, each write under
// the condition that its version is the last one, so the states are a sequence, and a write whose outcome is unknown is
// settled by the next. An answer is right if it is that of the definition (test/kit/naive-rules.ts) in one state that
// was the tenant's between the question and the answer, and no earlier one than answers before the question rest on:
// one state for a whole call, so no chain of grants that never existed at once authorizes anything.

import { type CallContext, NO_CONTEXT } from '../../src/core/call-context.ts';
import { compareUtf8, EVERY_SUBJECT, type Tuple } from '../../src/core/tuples.ts';
import type { JoinQuery } from '../../src/rules/join.ts';
import type { NamedTuple } from '../../src/rules/questions.ts';
import { NO_RULES, type RuleSet } from '../../src/rules/rule-set.ts';
import type { AuditRecord, SubjectSets } from '../../src/shard/shard.ts';
import { type NaiveModel, naiveHeld, naiveModel, type Truth } from '../kit/naive-rules.ts';
import { statesWithin } from './expired-states.ts';
import { GATED_NAMES, GATES, grantsIn, keyOfCall } from './gated-universe.ts';
import { addsMirrored, complaintAbout, joinIn, revisionOf, type SetsQuestion, seqsOf } from './ruled-sets.ts';
import {
  DOCS,
  EVERYONE,
  FAR,
  FOLDERS,
  GROUPS,
  isFar,
  type RuledGrant,
  SUBJECTS_LISTED,
  textOfTuple,
} from './ruled-universe.ts';

export interface RuledState {
  /** Different in every state whose grants are others, and in every one whose rules are. */
  readonly grantsVersion: number;
  readonly rulesVersion: number;
  readonly ruleSet: RuleSet;
  readonly grants: ReadonlyMap<string, RuledGrant>;
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

export type Question = { readonly call: CallContext } & (
  | { readonly kind: 'checks'; readonly checks: readonly NamedTuple[] }
  | { readonly kind: 'explain'; readonly check: NamedTuple }
  | ({ readonly kind: 'objects' | 'holders' } & ListQuestion)
  | ({ readonly kind: 'sets' } & SetsQuestion)
  | ({ readonly kind: 'join' } & JoinQuery)
);

export type RuledAnswer =
  | { readonly kind: 'authorized'; readonly authorized: readonly boolean[] }
  | { readonly kind: 'because'; readonly authorized: boolean; readonly chain: readonly Tuple[] }
  | {
      readonly kind: 'page';
      readonly items: readonly string[];
      readonly excluded: readonly string[];
      readonly more: boolean;
    }
  | { readonly kind: 'sets'; readonly sets: SubjectSets }
  | { readonly kind: 'join'; readonly revision: string; readonly json: string }
  /** The call brings along a grant that the join mirrors. */
  | { readonly kind: 'mirrored' }
  /** No rule defines the name, or the relation of a grant that the call brings along. */
  | { readonly kind: 'undefined' }
  /** The call brings along a grant with a condition that is not declared. */
  | { readonly kind: 'no-condition' }
  /** The call brings along a state of one subject, or another relation of `*`. */
  | { readonly kind: 'no-subject' }
  /** The call brings along a grant that types do not allow. */
  | { readonly kind: 'not-allowed' }
  | { readonly kind: 'undecided'; readonly code: 'evaluation-cyclic' | 'context-incomplete' }
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

const modelsIn = new WeakMap<RuledState, Map<string, NaiveModel>>();

const OF_ALL: readonly string[] = [EVERYONE, EVERY_SUBJECT];

/** What the subject holds in a call; `named`: by itself, and not as one of all of its namespace, or of all subjects. */
function modelOf(state: RuledState, call: CallContext, subject: string, named = false): NaiveModel {
  const known = modelsIn.get(state) ?? new Map<string, NaiveModel>();
  modelsIn.set(state, known);
  const key = `${subject} ${named} ${keyOfCall(call)}`;
  let model = known.get(key);
  if (model === undefined) {
    const all = grantsIn([...state.grants.values(), ...(isFar(subject) ? FAR.chain : [])], call);
    const grants = named ? all.filter((grant) => grant.subject === subject || !OF_ALL.includes(grant.subject)) : all;
    model = naiveModel(state.ruleSet, grants, subject);
    known.set(key, model);
  }
  return model;
}

const truthOf = (state: RuledState, call: CallContext, { subject, relation, object }: NamedTuple): Truth =>
  modelOf(state, call, subject).truthOf(relation, object);

const holds = (state: RuledState, call: CallContext, check: NamedTuple): boolean =>
  truthOf(state, call, check) === true;

const BUILT_IN = /^(?:owner|admin|manager|editor|commenter|viewer|member|guest|parent)$/;

const defines = ({ ruleSet }: RuledState, name: string): boolean =>
  BUILT_IN.test(name) ||
  [...ruleSet.relations, ...ruleSet.states].some((relation) => relation === name) ||
  ruleSet.rules.some((rule) => rule.name === name);

const reachesFar = (state: RuledState): boolean =>
  ['viewer', 'can_read'].some((relation) =>
    holds(state, NO_CONTEXT, { subject: FAR.subject, relation, object: FAR.object }),
  );

/** The query of a join names what objects of its namespace can have. */
const isOnNamespace = ({ ruleSet }: RuledState, { namespace, name }: JoinQuery): boolean => {
  const ruled = ruleSet.rules.filter((rule) => rule.name === name);
  return ruled.length === 0 || BUILT_IN.test(name) || ruled.some((rule) => rule.namespace === namespace);
};

const namesIn = (question: Question): readonly string[] => {
  const added = (question.call.contextGrants ?? []).map(({ relation }) => relation);
  if (question.kind === 'checks') return [...question.checks.map(({ relation }) => relation), ...added];
  return [question.kind === 'explain' ? question.check.relation : question.name, ...added];
};

/** Whether the rules declare the conditions of the grants that the call brings along. */
const declaresConditions = ({ ruleSet }: RuledState, { contextGrants = [] }: CallContext): boolean =>
  contextGrants.every(
    ({ condition }) =>
      condition === undefined || GATES.isDeclared({ subject: '', relation: 'viewer', object: '', condition }, ruleSet),
  );

/** Whether each grant of a declared relation that the call brings along has a subject that it may have. */
const fitsSubjects = ({ ruleSet }: RuledState, { contextGrants = [] }: CallContext): boolean =>
  contextGrants.every(({ condition: _, ...tuple }) => GATES.isDeclared(tuple, ruleSet));

const isFarQuestion = (question: Question): boolean => {
  if (question.kind === 'checks') return question.checks.some(({ subject }) => isFar(subject));
  if (question.kind === 'explain') return isFar(question.check.subject);
  return 'of' in question && isFar(question.of);
};

function isJoinIn(
  state: RuledState,
  query: JoinQuery,
  { revision, json }: { revision: string; json: string },
): boolean {
  return revision === revisionOf(state.ruleSet) && json === JSON.stringify({ revision, ...joinIn(state, query) });
}

/** Whether the answer is right in this state; of sets, see `ruled-sets.ts`. */
export function isAnswerIn(state: RuledState, question: Question, answer: RuledAnswer): boolean {
  const { call } = question;
  const isJoined = question.kind !== 'sets' && question.kind !== 'join' ? true : isOnNamespace(state, question);
  const isDefined = isJoined && namesIn(question).every((name) => defines(state, name));
  const isDeclared = declaresConditions(state, call);
  const isFit = fitsSubjects(state, call);
  const isAllowed = (call.contextGrants ?? []).every((grant) => GATES.isAllowed(grant, state.ruleSet));
  if (answer.kind === 'undefined') return !isDefined;
  if (answer.kind === 'no-condition') return !isDeclared;
  if (answer.kind === 'no-subject') return !isFit;
  if (answer.kind === 'not-allowed') return !isAllowed;
  if (answer.kind === 'mirrored') {
    const join = question.kind === 'sets' ? joinIn(state, question) : undefined;
    return join !== undefined && addsMirrored(join, call);
  }
  if (!isDefined || !isDeclared || !isFit || !isAllowed) return false;
  // The bound is no answer: only who holds something too far away may meet it. Every subject may hold a state there.
  if (answer.kind === 'too-large') {
    return isFarQuestion(question) && (state.ruleSet.states.length > 0 || reachesFar(state));
  }
  if (answer.kind === 'undecided') return isUndecided(state, question, answer.code);
  switch (question.kind) {
    case 'checks':
      return (
        answer.kind === 'authorized' &&
        question.checks.every((check, index) => truthOf(state, call, check) === answer.authorized[index])
      );
    case 'explain':
      return answer.kind === 'because' && isReason(state, question, answer.authorized, answer.chain);
    case 'sets':
      return false;
    case 'join':
      return answer.kind === 'join' && isJoinIn(state, question, answer);
    case 'objects':
      return answer.kind === 'page' && isPageOfObjects(state, question, answer);
    case 'holders':
      return answer.kind === 'page' && isPageOfHolders(state, question, answer);
  }
}

/** Whatever may be listed. */
const ENTITIES = [...DOCS, ...FOLDERS, ...GROUPS];
const NAMES = [...GATED_NAMES, 'member', 'editor', 'parent'];
const GROUP_TEXTS = ENTITIES.flatMap((entity) => NAMES.map((name) => `${entity}#${name}`));

function isUndecided(state: RuledState, question: Question, code: 'evaluation-cyclic' | 'context-incomplete'): boolean {
  const { call } = question;
  const lacks = grantsIn(state.grants.values(), call).some(({ condition }) => condition === 'undefined');
  if (code === 'context-incomplete' && !lacks) return false;
  const isUndefined = (check: NamedTuple): boolean => truthOf(state, call, check) === 'undefined';
  if (question.kind === 'checks') return question.checks.some(isUndefined);
  if (question.kind === 'explain') return isUndefined(question.check);
  if (question.kind === 'join') return false;
  if (question.kind === 'sets') {
    const { subject, perhaps } = question;
    const isAny = NAMES.some((relation) => ENTITIES.some((object) => isUndefined({ subject, relation, object })));
    return isAny && (code === 'evaluation-cyclic' || !perhaps);
  }
  const { of, name: relation, direct, prefix, after } = question;
  const mayList = (text: string): boolean => text.startsWith(prefix) && compareUtf8(text, after) > 0;
  if (direct) return directTexts(state, question, 'undefined').some(mayList);
  if (question.kind === 'objects') {
    return ENTITIES.some((object) => mayList(object) && isUndefined({ subject: of, relation, object }));
  }
  const subjects = [...SUBJECTS_LISTED, ...GROUP_TEXTS, ...Array.from(state.grants.values(), ({ subject }) => subject)];
  return subjects.some((subject) => isUndefined({ subject, relation, object: of }));
}

/** The other ends of grants of the relation whose condition has this value, and none that is true. */
function directTexts(state: RuledState, question: Question & ListQuestion, value: true | 'undefined'): string[] {
  const { name } = question;
  const isOfSubject = 'kind' in question && question.kind === 'objects';
  const [from, to] = isOfSubject ? (['subject', 'object'] as const) : (['object', 'subject'] as const);
  const isState = state.ruleSet.states.some((each) => each === name);
  const of = isState && isOfSubject ? EVERY_SUBJECT : question.of;
  const grants = grantsIn(state.grants.values(), question.call).filter(
    (grant) => grant[from] === of && grant.relation === name,
  );
  const withValue = (wanted: Truth): string[] =>
    grants.filter(({ condition }) => condition === wanted).map((grant) => grant[to]);
  const met = new Set(withValue(true));
  return value === true ? [...met] : withValue('undefined').filter((text) => !met.has(text));
}

/** The grants of a chain, or of a proof, exist, and suffice. */
function isReason(
  state: RuledState,
  { check, call }: Extract<Question, { readonly kind: 'explain' }>,
  authorized: boolean,
  chain: readonly Tuple[],
): boolean {
  if (truthOf(state, call, check) !== authorized) return false;
  if (!authorized) return chain.length === 0;
  const existing = new Map([...state.grants, ...FAR.chain.map((tuple) => [textOfTuple(tuple), tuple] as const)]);
  if (!chain.every((tuple) => existing.has(textOfTuple(tuple)))) return false;
  // What is excluded, and by which grants, is not part of it.
  if (check.relation === 'can_review') return true;
  const grants = chain.map((tuple) => existing.get(textOfTuple(tuple)) ?? tuple);
  return naiveHeld(state.ruleSet, grantsIn(grants, call), check.subject).has(`${check.relation} ${check.object}`);
}

type Page = Extract<RuledAnswer, { readonly kind: 'page' }>;

const isAscending = (items: readonly string[]): boolean =>
  items.every((item, index) => index === 0 || compareUtf8(items[index - 1] ?? '', item) < 0);

/** Behind `after`, and, where more is to follow, not behind the last item. `*` is of each namespace, and before it. */
function inPage({ prefix, after }: ListQuestion, { items, excluded, more }: Page): (text: string) => boolean {
  const last = more ? [...items, ...excluded].sort(compareUtf8).at(-1) : undefined;
  return (text) =>
    text === EVERY_SUBJECT
      ? after === prefix
      : text.startsWith(prefix) && compareUtf8(text, after) > 0 && (last === undefined || compareUtf8(text, last) <= 0);
}

function isPageOfObjects(state: RuledState, question: Question & ListQuestion, page: Page): boolean {
  const { of, name, direct, call } = question;
  const isListed = inPage(question, page);
  const start = `${name} `;
  const { held, truthOf: valueFor } = modelOf(state, call, of);
  const objects = direct
    ? directTexts(state, question, true)
    : [...held].filter((fact) => fact.startsWith(start)).map((fact) => fact.slice(start.length));
  const isUndefined = direct
    ? directTexts(state, question, 'undefined').some(isListed)
    : ENTITIES.some((object) => isListed(object) && valueFor(name, object) === 'undefined');
  const right = objects.filter(isListed);
  return !isUndefined && isAscending(page.items) && page.items.join(' ') === right.sort(compareUtf8).join(' ');
}

/**
 * Whoever is listed holds it. Whoever holds it by itself is listed, and whoever holds it though neither `user:*` nor
 * `*` does. Who does not hold it though `user:*` or `*` does is excluded, by itself or with `user:*`, which stands for
 * all users. The object's own groups are listed only if they are asked for, or for a grant to them.
 */
function isPageOfHolders(state: RuledState, question: Question & ListQuestion, page: Page): boolean {
  const { of, name, direct, includeSelf, call } = question;
  const { items, excluded } = page;
  const isListed = inPage(question, page);
  if (!isAscending(items) || !items.every(isListed) || !isAscending(excluded) || !excluded.every(isListed))
    return false;
  if (direct) {
    if (directTexts(state, question, 'undefined').some(isListed)) return false;
    const right = directTexts(state, question, true).filter(isListed);
    return excluded.length === 0 && items.join(' ') === right.sort(compareUtf8).join(' ');
  }
  const listed = new Set(items);
  const isOwn = (subject: string): boolean => !includeSelf && subject.startsWith(`${of}#`);
  const granted = new Set(grantsIn(state.grants.values(), call).map(({ subject }) => subject));
  const valueFor = (subject: string): Truth => truthOf(state, call, { subject, relation: name, object: of });
  const everyone = state.ruleSet.public.length > 0 ? valueFor(EVERYONE) : false;
  const all = valueFor(EVERY_SUBJECT);
  const isUser = (subject: string): boolean => subject.startsWith('user:') && subject !== EVERYONE;
  /** The values of those of whom the subject is one. */
  const valuesOfAll = (subject: string): readonly Truth[] =>
    subject === EVERY_SUBJECT ? [] : isUser(subject) ? [everyone, all] : [all];
  const demanded = (subject: string): boolean => {
    const value = valueFor(subject);
    const values = valuesOfAll(subject);
    if (value === true) return !values.includes(true) || modelOf(state, call, subject, true).truthOf(name, of) === true;
    return value === 'undefined' && !values.includes('undefined');
  };
  const isExcluded = (subject: string): boolean =>
    valueFor(subject) === false && valuesOfAll(subject).some((value) => value === true);
  const areAllExcluded = state.ruleSet.public.length > 0 && isExcluded(EVERYONE);
  const isNamed = (subject: string): boolean => excluded.includes(subject) || (isUser(subject) && areAllExcluded);
  const isGated = state.ruleSet.rules.some(({ anyOf }) => anyOf.some((each) => 'operator' in each));
  const mayBeListed = (subject: string): boolean =>
    (isGated || state.ruleSet.conditions.length > 0
      ? valueFor(subject)
      : modelOf(state, call, subject, true).truthOf(name, of)) === true;
  return (
    excluded.every(isExcluded) &&
    SUBJECTS_LISTED.every((each) => isNamed(each) || !isListed(each) || !isExcluded(each)) &&
    items.every((subject) => mayBeListed(subject) && (!isOwn(subject) || granted.has(subject))) &&
    SUBJECTS_LISTED.every((each) => listed.has(each) || !isListed(each) || isOwn(each) || !demanded(each))
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

  /** What no sequence of states explains, for a person. `rows`: the audit log of the tenant. */
  failures(rows: readonly AuditRecord[]): string[] {
    const seqs = seqsOf(this.versions, rows);
    if (seqs === undefined) return ['the audit log tells other versions than were written'];
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
      const complaint = this.#complaintAboutSets(observation, seqs);
      const ofSets = answer.kind === 'sets' ? seqs.findLastIndex((seq) => seq <= answer.sets.seq) : undefined;
      const right = (index: number): boolean => {
        const version = this.versions[index];
        if (ofSets !== undefined) return index === ofSets && complaint === undefined;
        return (
          version !== undefined &&
          statesWithin(version.state, from, until).some((state) => isAnswerIn(state, question, answer))
        );
      };
      // The first one is the best choice: it leaves most to the answers that follow.
      let found = this.#firstSince(from, floor);
      while (found < this.versions.length && (this.versions[found]?.from ?? until) < until && !right(found)) found += 1;
      if (found < this.versions.length && (this.versions[found]?.from ?? until) < until)
        restsOn.set(observation, found);
      else failures.push(`${this.#complaint(observation, floor)}${complaint === undefined ? '' : `: ${complaint}`}`);
      if (failures.length >= FAILURES_MAX) break;
    }
    return failures;
  }

  #complaintAboutSets({ question, answer }: Observation, seqs: readonly number[]): string | undefined {
    if (question.kind !== 'sets' || answer.kind !== 'sets') return undefined;
    return complaintAbout(answer.sets, question, this.versions, seqs);
  }

  #firstSince(from: number, floor: number): number {
    let index = floor;
    while (index < this.versions.length && (this.versions[index]?.until ?? from) <= from) index += 1;
    return index;
  }

  #complaint({ client, question, answer, from, until }: Observation, floor: number): string {
    const first = this.#firstSince(from, floor);
    const last = this.versions.findLastIndex((version) => version.from < until);
    const elsewhere = this.versions.flatMap(({ state }, index) =>
      statesWithin(state, from, until).some((each) => isAnswerIn(each, question, answer)) ? [index] : [],
    );
    const nearest = elsewhere.toSorted((left, right) => Math.abs(left - first) - Math.abs(right - first)).slice(0, 3);
    return (
      `${client}: ${JSON.stringify(question)} is answered ${JSON.stringify(answer)} between ${from.toFixed(3)} and ` +
      `${until.toFixed(3)}, in versions ${first} to ${last}, where that is not so; it is in ${nearest.join(', ') || 'none'}`
    );
  }
}
