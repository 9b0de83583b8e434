// The sets of a subject, the live half of a join (rules/join.ts): the groups in which it is, and the names that it
// holds on containers, as of one place of the log and one time of the slot. Evaluated as a listing is: a search from
// the subject finds what it may hold, and where gates or conditions matter, each find is decided. A set that no grant
// names is left out, since no row of the mirror can lead to it.

import { type CallContext, changesGrants } from '../../core/call-context.ts';
import { GrantdError } from '../../core/errors.ts';
import { SET_BYTES_MAX, SETS_MAX } from '../../core/limits.ts';
import { EVERY_SUBJECT, namespaceOf, namespacesOf, sortUtf8 } from '../../core/tuples.ts';
import { bitOf, type CompiledRules, type NameSet } from '../../rules/compiled-rules.ts';
import { GateEvaluation } from '../../rules/gate-evaluation.ts';
import { GrantedSearch } from '../../rules/granted-search.ts';
import type { Enumeration, Graph, SearchLimits } from '../../rules/graph.ts';
import type { Join } from '../../rules/join.ts';
import { namesInRule, type Rule, SELF } from '../../rules/rule-set.ts';
import { ListingTime } from '../log/slot-time.ts';
import { GROUP_MARK } from '../memory/grant-page.ts';
import { NO_RULES_REVISION, type StoredRules } from '../memory/tenant-rules.ts';
import type { SetsQuery, SubjectSets } from '../shard.ts';
import { CallGrants, type CallTerms, termsOf } from './call-grants.ts';
import { GrantConditions } from './grant-conditions.ts';
import {
  CONDITION_STEPS_MAX,
  fromObject,
  GateDecisions,
  ListingSteps,
  STEP_MS,
  stepped,
  TooLarge,
  withinLimits,
} from './listing-steps.ts';
import type { PageGraph } from './page-graph.ts';
import { type CallTenant, evaluateInRounds, type Interruption, type RoundOptions, takeTurn } from './rounds.ts';

/** What a search has found that gates, or conditions, have to decide. */
const CANDIDATES_MAX = 100_000;
/** Objects that one step examines for their sets. */
const OBJECTS_PER_STEP = 2000;
/** Of objects below containers: a join with more has them all looked for. */
const STRUCTURE_NAMES_MAX = 500;
/** In a kept answer, between the groups and what is held. */
const SEPARATOR = '';

const TOO_MANY_SETS = `The subject has more than ${SETS_MAX.toLocaleString('en')} sets, or they take more than ${SET_BYTES_MAX / 1024} KiB. Name the namespaces of containers in "deep", so that their grants are mirrored and not asked for; a gate belongs on the name that is listed, and not on names of containers.`;

/** The sets apart from the subject itself and those who include it, ascending. */
interface FoundSets {
  readonly groups: readonly string[];
  readonly held: readonly string[];
  readonly perhaps: readonly string[];
}

const NO_NAMES: readonly string[] = [];
const NO_GRANTS: Enumeration = [];
const NOTHING_FOUND: FoundSets = Object.freeze({ groups: [], held: [], perhaps: [] });

/** A set that the subject may be in, as `object#name`. */
interface Candidate {
  readonly object: string;
  readonly number: number;
  readonly isGroup: boolean;
  readonly isHeld: boolean;
}

/** Where names of objects follow from those of their containers. */
interface Structure {
  readonly namespaces: ReadonlySet<string>;
  /** Those of them where the join asks for names that it does not follow along grants itself. */
  readonly asked: ReadonlySet<string>;
}

const structures = new WeakMap<Join, Structure | 'unknown'>();

function structureOf(join: Join, { ruleSet: { rules }, compiled }: StoredRules): Structure | 'unknown' {
  const known = structures.get(join);
  if (known !== undefined) return known;
  const inherits = (rule: Rule): boolean => namesInRule(rule).some(({ from }) => from !== undefined);
  const namespaces = new Set(rules.filter(inherits).map(({ namespace }) => namespace));
  const nested = new Set(join.nesting.map(({ namespace, name }) => `${namespace} ${name}`));
  const isAsked = (namespace: string): boolean =>
    join.ask.some((name) => {
      const number = compiled.numberOf(name);
      // `self`, which nothing below a container has from it.
      if (number === undefined) return false;
      const { gates, parents } = compiled.wanted(`${namespace}:`, bitOf(number));
      return gates.length > 0 || (parents.length > 0 && !nested.has(`${namespace} ${name}`));
    });
  const isShort = namespaces.size * join.ask.length <= STRUCTURE_NAMES_MAX;
  const structure = isShort ? { namespaces, asked: new Set([...namespaces].filter(isAsked)) } : 'unknown';
  structures.set(join, structure);
  return structure;
}

/** Which sets a join asks for. */
class AskedSets {
  readonly rules: CompiledRules;
  readonly #stored: StoredRules;
  readonly #join: Join;
  readonly #memory: CallTenant['memory'];
  /** As `namespace name`: the grants of these are all mirrored. */
  readonly #mirrored: ReadonlySet<string>;
  readonly #names = new Map<string, NameSet>();
  /** The name is decided here for the listed objects themselves. */
  readonly #isOpaque: boolean;

  constructor(stored: StoredRules, join: Join, memory: CallTenant['memory']) {
    this.rules = stored.compiled;
    this.#stored = stored;
    this.#join = join;
    this.#memory = memory;
    const mirrored = join.nesting.filter(({ held }) => held === undefined);
    this.#mirrored = new Set(mirrored.map(({ namespace, name }) => `${namespace} ${name}`));
    this.#isOpaque = Object.values(join.atoms).some(({ held }) => held !== undefined);
  }

  #askedOn(namespace: string): readonly string[] {
    return this.#join.ask.filter((name) => !this.#mirrored.has(`${namespace} ${name}`));
  }

  #namesOn(namespace: string): NameSet {
    let names = this.#names.get(namespace);
    if (names === undefined) {
      const numbers = this.#askedOn(namespace).flatMap((name) => this.rules.numberOf(name) ?? []);
      names = numbers.reduce((set, number) => set | bitOf(number), 0n);
      this.#names.set(namespace, names);
    }
    return names;
  }

  /**
   * The namespaces of which the search needs to find objects: those of subjects of grants, and what is listed where its
   * name is decided here. Undefined: all of them. `missing`: they have to be read first.
   */
  namespaces({ contextGrants = [] }: CallContext): ReadonlySet<string> | 'missing' | undefined {
    const { known = 'missing' } = this.#memory.subjectNamespaces;
    if (known === 'missing') return known;
    if (known === 'too-many') return undefined;
    const others = namespacesOf(...contextGrants.map(({ subject }) => subject));
    return known.union(others).union(new Set(this.#isOpaque ? [this.#join.namespace] : []));
  }

  /** The namespaces that have the objects of all groups, as they are now. Undefined: they are not known. */
  groupNamespaces({ contextGrants = [] }: CallContext): ReadonlySet<string> | undefined {
    const groups = this.rules.groups ? this.#memory.subjects.groupNamespaces : new Set<string>();
    return groups?.union(namespacesOf(...contextGrants.map(({ subject }) => subject)));
  }

  /**
   * Whether what the subject holds below containers may matter to its sets: unless no group is there, and the join
   * follows what it asks for there along grants. `found`: the namespaces whose objects a search finds.
   */
  needsStructure(groups: ReadonlySet<string> | undefined, found: ReadonlySet<string> | undefined): boolean {
    const structure = structureOf(this.#join, this.#stored);
    if (structure === 'unknown' || groups === undefined || found === undefined || this.#isOpaque) return true;
    return !structure.asked.isDisjointFrom(found) || !structure.namespaces.isDisjointFrom(groups);
  }

  /** Whether no search can find any. */
  get isEmpty(): boolean {
    return !this.rules.groups && !this.#join.ask.some((name) => name !== SELF);
  }

  /** The states that may give such a name by themselves, ascending. */
  get states(): readonly number[] {
    const { rules } = this;
    const numbers = this.#join.ask.flatMap((name) => rules.numberOf(name) ?? []);
    const states = new Set([
      ...(rules.groups ? rules.givingStates : []),
      ...numbers.flatMap(rules.statesGiving, rules),
    ]);
    return [...states].sort((left, right) => left - right);
  }

  /** `ns:id#self` of the subject, if it is asked for. */
  ownHeld(subject: string): readonly string[] {
    const isAsked = this.rules.isEntity(subject) && this.#askedOn(namespaceOf(subject)).includes(SELF);
    return isAsked ? [`${subject}#${SELF}`] : [];
  }

  /** Of the names on the object, adds those that some row of the mirror may lead to. `groups`: their namespaces. */
  addCandidatesOn(
    object: string,
    names: NameSet,
    groups: ReadonlySet<string> | undefined,
    candidates: Map<string, Candidate>,
  ): void {
    const { rules } = this;
    const { subjects } = this.#memory;
    const namespace = namespaceOf(object);
    const asked = this.#namesOn(namespace) & names;
    const isListed = this.#isOpaque && namespace === this.#join.namespace;
    const held = asked !== 0n && (isListed || subjects.mayHave(object)) ? rules.namesIn(asked) : NO_NAMES;
    const mayBeGroup = rules.groups && groups?.has(namespace) !== false;
    const add = (name: string, text: string, isHeld: boolean, isGroup: boolean): void => {
      const number = rules.numberOf(name);
      if (number !== undefined) candidates.set(text, { object, number, isGroup, isHeld });
    };
    for (const name of held) add(name, `${object}#${name}`, true, false);
    for (const name of mayBeGroup ? rules.groupNamesIn(names) : NO_NAMES) {
      const text = `${object}#${name}`;
      if (subjects.mayHave(text)) add(name, text, held.includes(name), true);
    }
  }
}

/** The inputs of one attempt. */
interface SetsInputs {
  readonly asked: AskedSets;
  readonly graph: PageGraph;
  readonly terms: CallTerms;
  readonly grants: CallGrants;
  readonly limits: SearchLimits;
  /** Only objects of these are found; undefined: of all. */
  readonly namespaces: ReadonlySet<string> | undefined;
}

/** The grants that a search from the subject follows. */
class NeededGrants implements Pick<Graph, 'objectsOf'> {
  /** The namespaces of groups when the attempt began. Undefined: they are not known. */
  readonly groups: ReadonlySet<string> | undefined;
  readonly #hasGroups: boolean;
  readonly #grants: CallGrants;
  readonly #needsStructure: boolean;

  constructor({ asked, grants, namespaces }: SetsInputs, call: CallContext) {
    this.groups = asked.groupNamespaces(call);
    this.#hasGroups = asked.rules.groups;
    this.#grants = grants;
    this.#needsStructure = asked.needsStructure(this.groups, namespaces);
  }

  /** Whether the subject is a group of a namespace that had none. */
  lacksGroup(subject: string): boolean {
    return this.#hasGroups && subject.includes(GROUP_MARK) && this.groups?.has(namespaceOf(subject)) === false;
  }

  objectsOf(subject: string, relations: readonly number[] | undefined): Enumeration {
    // To follow relations is to follow a container to its objects; or states.
    const isNeeded =
      relations === undefined ? !this.lacksGroup(subject) : this.#needsStructure || subject === EVERY_SUBJECT;
    return isNeeded ? this.#grants.possible.objectsOf(subject, relations) : NO_GRANTS;
  }
}

const never = (): boolean => false;
const tooMany = (): GrantdError => new GrantdError('too-many-sets', TOO_MANY_SETS);

/** Rejects with `too-many-sets`, and as a listing does. */
export function evaluateSets(of: CallTenant, query: SetsQuery): Promise<SubjectSets> {
  const known = knownSets(of, query);
  if (known !== undefined) return Promise.resolve(known);
  return withinLimits<SubjectSets>((limits, bounds) => evaluateWithin(of, query, limits, bounds));
}

/** Nothing in a query contains a space. */
const keyOf = ({ subject, namespace, name, deep }: SetsQuery): string =>
  `sets ${subject} ${namespace} ${name} ${deep.join(' ')}`;

/** An answer since which the tenant had no commit holds at the present place of the log, and the present time. */
function knownSets(of: CallTenant, query: SetsQuery): SubjectSets | undefined {
  const { memory, tenure } = of;
  const stored = memory.rules.ready;
  if (stored === undefined || changesGrants(query)) return undefined;
  // A page that is used again may displace the rules themselves.
  const texts = memory.answers.page(keyOf(query));
  const join = memory.rules.knownJoin(stored, query);
  if (texts === undefined || join === undefined) return undefined;
  const at = texts.indexOf(SEPARATOR);
  const found = { groups: texts.slice(0, at), held: texts.slice(at + 1), perhaps: [] };
  const { nowMs } = tenure.slotTime;
  return mayExpire(of, nowMs) ? undefined : answerOf(of, query, stored, join, found, nowMs);
}

/** Whether a mirrored grant may have expired by that time of which the log does not say so yet. */
const mayExpire = ({ memory, tenure }: CallTenant, timeMs: number): boolean =>
  memory.uncollectedMs <= timeMs && timeMs > tenure.slotTime.loggedMs;

/** In the step of which it is the state. */
function answerOf(
  { memory, tenure }: CallTenant,
  { subject }: SetsQuery,
  { compiled, ruleSet }: StoredRules,
  join: Join,
  { groups, held, perhaps }: FoundSets,
  timeMs: number,
): SubjectSets {
  const everyone = ruleSet.states.length > 0 ? [EVERY_SUBJECT] : [];
  const own = compiled.isEntity(subject)
    ? `${subject}#${SELF}`
    : compiled.groupOf(subject) === undefined
      ? ''
      : subject;
  const seq = tenure.lastSeq;
  return {
    subjects: [...new Set([...compiled.subjectsOf(subject), ...everyone, ...groups])],
    held,
    perhaps,
    own,
    revision: memory.tenant.rulesRevision ?? NO_RULES_REVISION,
    seq,
    timeMs,
    through: Math.min(memory.touchedFrom(tenure.begunSeq).lastOf(join.mirror), seq),
  };
}

/** What the application mirrors it reads from there: it would not see the grants of one call. */
function demandUnmirrored({ contextGrants = [] }: CallContext, { mirror }: Join): void {
  const wrong = contextGrants.findIndex(({ object, relation }) =>
    mirror.some(({ namespace, relations }) => namespace === namespaceOf(object) && relations.includes(relation)),
  );
  const grant = contextGrants[wrong];
  if (grant === undefined) return;
  const message = `"context_grants[${wrong}]" grants ${grant.relation} on ${namespaceOf(grant.object)}, which the join reads from its mirror: what only this call knows cannot count there.`;
  throw new GrantdError('invalid-request', message);
}

function evaluateWithin(
  of: CallTenant,
  query: SetsQuery,
  limits: SearchLimits,
  bounds: RoundOptions,
): Promise<SubjectSets | TooLarge> {
  const conditions = new GrantConditions(CONDITION_STEPS_MAX, () => takeTurn(of, STEP_MS));
  return evaluateInRounds<SubjectSets | TooLarge>(of, bounds, async (graph, nowMs) => {
    const { slotTime } = of.tenure;
    const time = new ListingTime(slotTime, nowMs);
    const stored = of.memory.rules.pinned;
    const { compiled } = stored;
    const join = await of.memory.rules.joinOf(query, 'join.name');
    // Not `pinned`: the tenure may have ended, and its memory with it.
    if (of.memory.rules.loaded !== stored) return 'changed';
    const terms = termsOf(stored, query, () => conditions);
    demandUnmirrored(query, join);
    graph.startRun();
    terms.conditions?.startRun(compiled);
    terms.conditions?.use(query.context);
    const asked = new AskedSets(stored, join, of.memory);
    const namespaces = asked.isEmpty ? undefined : asked.namespaces(query);
    if (namespaces === 'missing') {
      graph.miss('namespaces', () => of.memory.subjectNamespaces.load());
      return namespaces;
    }
    const grants = new CallGrants(graph, time, terms, namespaces);
    return findSets(of, query, { asked, graph, terms, grants, limits, namespaces }, (found) => {
      // Other commits may have moved the time of the log: if nothing ended meanwhile, the answer is of one time.
      const timeMs = Math.max(nowMs, slotTime.loggedMs);
      if (time.endsMs <= timeMs) return 'changed';
      if (time.waits || mayExpire(of, timeMs)) return 'waits';
      if (!time.depends && !changesGrants(query))
        of.memory.answers.keepPage(keyOf(query), [...found.groups, SEPARATOR, ...found.held]);
      return answerOf(of, query, stored, join, found, timeMs);
    });
  });
}

/** `answer`: called in the step of which the sets are. */
async function findSets(
  of: CallTenant,
  query: SetsQuery,
  inputs: SetsInputs,
  answer: (found: FoundSets) => SubjectSets | Interruption,
): Promise<SubjectSets | TooLarge | Interruption> {
  const { subject, perhaps } = query;
  const { asked, grants, limits, namespaces } = inputs;
  const { rules } = asked;
  if (asked.isEmpty) return answer({ ...NOTHING_FOUND, held: asked.ownHeld(subject) });
  const needed = new NeededGrants(inputs, query);
  const search = new GrantedSearch(rules, needed, limits, subject, asked.states);
  const visited = new Set<string>();
  // Also on the first grant to a container, a group, those of a namespace, or a namespace that was left out because no
  // grant named it.
  const restsOn = (changed: string, object: string): boolean =>
    search.follows(changed) ||
    search.held.has(changed) ||
    visited.has(object) ||
    needed.lacksGroup(changed) ||
    (changed !== EVERY_SUBJECT && namespaces?.has(namespaceOf(changed)) === false);
  using steps = new ListingSteps(of, inputs, restsOn);
  const { cost } = search;
  const searched = await steps.run({
    cost,
    get hasNext() {
      return search.hasNext;
    },
    step: () => search.step(never),
  });
  if (searched !== undefined) return searched;
  const candidates = new Map<string, Candidate>();
  const isExact = !rules.gated && !grants.differ;
  let examined = 0;
  for (const [object, { all }] of search.held) {
    asked.addCandidatesOn(object, all, needed.groups, candidates);
    if (candidates.size > (isExact ? SETS_MAX : CANDIDATES_MAX)) throw tooMany();
    examined += 1;
    if (examined % OBJECTS_PER_STEP === 0 && !(await steps.take())) return 'changed';
  }
  const undecided: string[] = [];
  let texts: readonly string[] = [...candidates.keys()];
  if (!isExact) {
    const gates = new GateDecisions(
      rules,
      true,
      () =>
        namespaces === undefined
          ? new GateEvaluation(rules, grants, stepped(limits), subject, search, visited)
          : new GateEvaluation(rules, grants, fromObject(limits), subject, undefined, visited),
      (evaluation, text) => {
        const candidate = candidates.get(text);
        return evaluation.decide(candidate?.number ?? 0, candidate?.object ?? '');
      },
    );
    const decided = await steps.decide(gates, texts, SETS_MAX + 1, perhaps ? undecided : undefined);
    if (decided instanceof TooLarge || typeof decided === 'string') return decided;
    ({ texts } = decided);
  }
  return steps.changed ? 'changed' : answer(foundOf(asked.ownHeld(subject), texts, undecided, candidates));
}

function foundOf(
  own: readonly string[],
  texts: readonly string[],
  undecided: readonly string[],
  candidates: ReadonlyMap<string, Candidate>,
): FoundSets {
  const found = {
    groups: sortUtf8(texts.filter((text) => candidates.get(text)?.isGroup)),
    held: sortUtf8([...own, ...texts.filter((text) => candidates.get(text)?.isHeld)]),
    perhaps: sortUtf8([...undecided]),
  };
  const all = [...found.groups, ...found.held, ...found.perhaps];
  const bytes = all.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (all.length > SETS_MAX || bytes > SET_BYTES_MAX) throw tooMany();
  return found;
}
