// What rules mean, as fixpoints over a set: slow, and short enough to be read as the definition. Evaluation is compared
// with it.
//
// For one subject, rules and grants are a Datalog program over facts `name object`. Its meaning is the well-founded
// model by the alternating fixpoint (Van Gelder, 1993): where no name depends on its own `but_not`, that is the
// stratified least fixpoint, and each fact is true or false; a fact that grants to groups tie to its own negation is
// undefined. A grant whose condition is undefined counts at most, but not at least, which yields Kleene's logic.

import {
  type GateElement,
  isGate,
  type NameElement,
  type RuleElement,
  type RuleSet,
  SELF,
  textOfElement,
} from '../../src/rules/rule-set.ts';

export type Truth = boolean | 'undefined';

export interface NaiveGrant {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  /** The value of its condition in the call. Absent: it has no condition. */
  readonly condition?: Truth;
}

/** What one subject holds. */
export interface NaiveModel {
  truthOf(name: string, object: string): Truth;
  /** What is true, as `name object`. */
  readonly held: ReadonlySet<string>;
}

/** Of the two sets between which the model lies: the facts that hold at least, and those that hold at most. */
type Side = 'least' | 'most';
type Facts = ReadonlySet<string>;

const OTHER: Readonly<Record<Side, Side>> = { least: 'most', most: 'least' };

const counts = ({ condition = true }: NaiveGrant, side: Side): boolean =>
  side === 'least' ? condition === true : condition !== false;

const namespaceOf = (text: string): string => text.slice(0, text.indexOf(':'));

/** `ns:id#name`, or undefined. */
function groupOf(text: string): { object: string; name: string } | undefined {
  const [, object = '', name = ''] = /^([^:]*:.+)#([A-Za-z][A-Za-z0-9_.-]{0,63})$/u.exec(text) ?? [];
  return object === '' ? undefined : { object, name };
}

const opens = ({ operator, elements }: GateElement, follows: (element: RuleElement) => boolean): boolean =>
  operator === 'all_of' ? elements.every(follows) : elements.some(follows);

const factOf = (name: string, object: string): string => `${name} ${object}`;

/** A fact of its own for each element of a `but_not`. Names begin with letters. */
const excludedFactOf = (element: RuleElement, object: string): string => `!${factOf(textOfElement(element), object)}`;

function* excludedIn(elements: readonly RuleElement[]): Generator<RuleElement> {
  for (const element of elements) {
    if (!isGate(element)) continue;
    yield* element.butNot;
    yield* excludedIn([...element.elements, ...element.butNot]);
  }
}

/** What the rules and grants say about one subject. */
class Program {
  readonly #ruleSet: RuleSet;
  readonly #subject: string;
  readonly #grantsOn: ReadonlyMap<string, readonly NaiveGrant[]>;
  /** A group holds its own name: its subject stands for any of its members. */
  readonly #own: { object: string; name: string } | undefined;
  readonly #states: ReadonlySet<string>;

  constructor(ruleSet: RuleSet, grants: readonly NaiveGrant[], subject: string) {
    this.#ruleSet = ruleSet;
    this.#subject = subject;
    this.#grantsOn = Map.groupBy(grants, ({ object }) => object);
    this.#states = new Set(ruleSet.states);
    this.#own = this.#membersOf(subject);
  }

  /** All that follows on this side, where what `but_not` excludes holds if it is in `excluded`. */
  consequences(side: Side, excluded: (fact: string) => boolean): Facts {
    const facts = new Set<string>();
    // A subject that is no group holds `self` on the object that it is.
    const own = this.#own ?? { name: SELF, object: this.#subject };
    if (this.#own !== undefined || this.#isEntity(this.#subject)) facts.add(factOf(own.name, own.object));
    const objects = new Set([...this.#grantsOn.keys(), own.object]);
    for (let size = -1; size < facts.size; ) {
      size = facts.size;
      for (const object of objects) {
        for (const grant of this.#grantsOn.get(object) ?? []) {
          if (counts(grant, side) && this.#isToSubject(grant, facts)) facts.add(factOf(grant.relation, object));
        }
        for (const { namespace, name, anyOf } of this.#ruleSet.rules) {
          if (namespace !== namespaceOf(object)) continue;
          const follows = (element: RuleElement): boolean =>
            isGate(element)
              ? opens(element, follows) && !element.butNot.some((each) => excluded(excludedFactOf(each, object)))
              : this.#isNamed(element, object, side, facts);
          if (anyOf.some(follows)) facts.add(factOf(name, object));
          for (const each of excludedIn(anyOf)) if (follows(each)) facts.add(excludedFactOf(each, object));
        }
      }
    }
    return facts;
  }

  #groupOf(text: string): { object: string; name: string } | undefined {
    return this.#ruleSet.groups ? groupOf(text) : undefined;
  }

  /** A state has no members. */
  #membersOf(text: string): { object: string; name: string } | undefined {
    const group = this.#groupOf(text);
    return group === undefined || this.#states.has(group.name) ? undefined : group;
  }

  #isPublic(text: string): boolean {
    return this.#ruleSet.public.includes(namespaceOf(text)) && this.#groupOf(text) === undefined;
  }

  #isEntity(text: string): boolean {
    const isEveryone = text === '*' || (this.#isPublic(text) && text === `${namespaceOf(text)}:*`);
    return this.#groupOf(text) === undefined && !isEveryone;
  }

  #isToSubject({ subject: text }: NaiveGrant, facts: Facts): boolean {
    const subject = this.#subject;
    // The subject of states is every subject.
    if (text === subject || text === '*') return true;
    if (this.#isPublic(subject) && text === `${namespaceOf(subject)}:*`) return true;
    const group = this.#membersOf(text);
    return group !== undefined && facts.has(factOf(group.name, group.object));
  }

  #isNamed({ name, from, all }: NameElement, object: string, side: Side, facts: Facts): boolean {
    if (from === undefined) return facts.has(factOf(name, object));
    const edges = (this.#grantsOn.get(object) ?? []).filter(
      ({ subject, relation }) => relation === from && this.#isEntity(subject),
    );
    const holds = (edge: NaiveGrant): boolean => facts.has(factOf(name, edge.subject));
    if (!edges.some((edge) => counts(edge, side) && holds(edge))) return false;
    return all !== true || edges.every((edge) => !counts(edge, OTHER[side]) || holds(edge));
  }
}

/** The well-founded model. */
export function naiveModel(ruleSet: RuleSet, grants: readonly NaiveGrant[], subject: string): NaiveModel {
  const program = new Program(ruleSet, grants, subject);
  let least = program.consequences('least', () => true);
  let most = program.consequences('most', (fact) => least.has(fact));
  // Each round, the one grows and the other shrinks, until neither does.
  while (least.size < most.size) {
    const grown = program.consequences('least', (fact) => most.has(fact));
    if (grown.size === least.size) break;
    least = grown;
    most = program.consequences('most', (fact) => grown.has(fact));
  }
  return {
    truthOf(name, object) {
      const fact = factOf(name, object);
      return least.has(fact) || (most.has(fact) ? 'undefined' : false);
    },
    held: new Set([...least].filter((fact) => !fact.startsWith('!') && !fact.startsWith(`${SELF} `))),
  };
}

/** All that the subject holds, as `name object`. What is undefined is not held. */
export const naiveHeld = (ruleSet: RuleSet, grants: readonly NaiveGrant[], subject: string): ReadonlySet<string> =>
  naiveModel(ruleSet, grants, subject).held;

/** Who holds a name on an object. */
export interface NaiveListing {
  readonly held: readonly string[];
  /** They do not hold it, though `ns:*` or `*` does, whose grants are theirs too. */
  readonly excluded: readonly string[];
  readonly undefined: readonly string[];
}

/** Which of the candidates hold the name on the object, in their order. */
export function naiveSubjects(
  ruleSet: RuleSet,
  grants: readonly NaiveGrant[],
  { name, object }: { readonly name: string; readonly object: string },
  candidates: readonly string[],
): NaiveListing {
  const truthOf = (subject: string): Truth => naiveModel(ruleSet, grants, subject).truthOf(name, object);
  const isGroup = (text: string): boolean => ruleSet.groups && groupOf(text) !== undefined;
  const values = new Map(candidates.map((candidate) => [candidate, truthOf(candidate)]));
  const everybody = ruleSet.public.filter((namespace) => truthOf(`${namespace}:*`) === true);
  const isForAll = ruleSet.states.length > 0 && truthOf('*') === true;
  const ofValue = (value: Truth): string[] => candidates.filter((candidate) => values.get(candidate) === value);
  return {
    held: ofValue(true),
    excluded: ofValue(false).filter((each) => isForAll || (everybody.includes(namespaceOf(each)) && !isGroup(each))),
    undefined: ofValue('undefined'),
  };
}
