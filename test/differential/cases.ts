// One case of a run, from its seed alone: a world, changes in several steps, and what is asked after each.
//
// Profiles: `small`, in which almost everything leads to almost everything, without cycles of grants; `cyclic`, the
// same with a cycle or two; `tangled`, with as many as come; `deep`, nested folders and groups, up to what the limits
// of depth allow; `wide`, groups of many members.

import { RELATIONS, type Relation } from '../../src/core/tuples.ts';
import { NO_RULES, type Rule, type RuleElement } from '../../src/rules/rule-set.ts';
import { SeededRandom } from '../simulation/seeded-random.ts';
import type { Change, Question } from './question.ts';
import { type Grantable, isGrantable, NAMESPACES, namesOn, namespaceOf, type World } from './universe.ts';

const PROFILES = { small: 9, cyclic: 4, tangled: 3, deep: 4, wide: 2 };
type Profile = keyof typeof PROFILES;

/** Grants of a case that may close a cycle. */
const CYCLES: Readonly<Record<Profile, number>> = {
  small: 0,
  cyclic: 2,
  tangled: Number.POSITIVE_INFINITY,
  deep: 0,
  wide: 0,
};
const GRANTED: readonly Relation[] = ['owner', 'editor', 'viewer', 'member', 'parent'];
const DERIVED = ['can_read', 'can_share'] as const;
const FOLLOWED: readonly Relation[] = ['parent', 'owner'];
const STEPS = 3;
const QUESTIONS_PER_STEP = 20;
const GRANTS_MAX_SMALL = 60;
/** Grants that a question leads over, at most, after the first. */
const WALK_MAX = 4;
/** A chain may be so deep that it is refused. */
const DEPTH_MAX = 28;
const MEMBERS_MAX = 400;

export interface Step {
  readonly changes: readonly Change[];
  readonly questions: readonly Question[];
}

export interface Case {
  readonly world: World;
  readonly steps: readonly Step[];
}

type Grant = Omit<Change, 'revoke'>;
const keyOf = ({ subject, relation, object }: Grant): string => `${subject} ${relation} ${object}`;

/** Each item by itself, with this probability. */
const someOf = <Item>(random: SeededRandom, items: readonly Item[], probability: number): readonly Item[] =>
  items.filter(() => random.chance(probability));

function randomGrantable(random: SeededRandom, isPublic: readonly string[], hasGroups: boolean): readonly Grantable[] {
  return NAMESPACES.flatMap((namespace) =>
    someOf(random, GRANTED, namespace === 'user' ? 0.3 : 0.8).map((relation): Grantable => {
      const entities = someOf(random, NAMESPACES, 0.5);
      const groups = NAMESPACES.flatMap((each) =>
        [...GRANTED, ...DERIVED].map((name) => ({ namespace: each, name })),
      ).filter(() => hasGroups && random.chance(0.12));
      return {
        namespace,
        relation,
        entities: entities.length === 0 ? [random.pick(NAMESPACES)] : entities,
        everyone: someOf(random, isPublic, 0.4),
        groups,
      };
    }),
  );
}

function randomRules(random: SeededRandom, grantable: readonly Grantable[]): readonly Rule[] {
  const defined = NAMESPACES.map((namespace) => ({
    namespace,
    names: someOf(random, [...GRANTED, ...DERIVED], namespace === 'user' ? 0.2 : 0.5),
  }));
  const anywhere = [...GRANTED, ...DERIVED.filter((name) => defined.some(({ names }) => names.includes(name)))];
  return defined.flatMap(({ namespace, names }) =>
    names.map((name): Rule => {
      const here = [...GRANTED, ...DERIVED.filter((each) => names.includes(each))];
      const followed = FOLLOWED.filter((relation) =>
        grantable.some((each) => each.namespace === namespace && each.relation === relation),
      );
      const anyOf = Array.from({ length: random.whole(1, 3) }, (): RuleElement => {
        const from = followed.length > 0 && random.chance(0.5) ? random.pick(followed) : undefined;
        return { name: random.pick(from === undefined ? here : anywhere), from };
      });
      return { namespace, name, anyOf };
    }),
  );
}

function randomWorld(random: SeededRandom): World {
  const isPublic = someOf(random, ['user', 'folder'], 0.5);
  const groups = random.chance(0.8);
  const grantable = randomGrantable(random, isPublic, groups);
  return { ruleSet: { ...NO_RULES, rules: randomRules(random, grantable), groups, public: isPublic }, grantable };
}

const element = (text: string): RuleElement => {
  const [name = '', from] = text.split(' from ');
  return { name, from: RELATIONS.find((relation) => relation === from) };
};
const rule = (namespace: string, name: string, ...anyOf: readonly string[]): Rule => ({
  namespace,
  name,
  anyOf: anyOf.map(element),
});

/** Documents in folders, shared with groups: what most applications have. */
function documentWorld(random: SeededRandom): World {
  const members = [{ namespace: 'group', name: 'member' }];
  const inherited = (namespace: string): readonly Rule[] => [
    rule(namespace, 'editor', 'owner', 'editor from parent'),
    rule(namespace, 'viewer', 'editor', 'viewer from parent'),
    rule(namespace, 'can_read', 'viewer', ...(random.chance(0.5) ? ['can_read from parent'] : [])),
  ];
  const on = (namespace: string, relation: string, entities: readonly string[], others: boolean): Grantable => ({
    namespace,
    relation,
    entities,
    everyone: others ? ['user'] : [],
    groups: others ? members : [],
  });
  const rules = [...inherited('folder'), ...inherited('document')];
  const kept = someOf(random, rules, 0.9);
  return {
    ruleSet: { ...NO_RULES, rules: kept, groups: true, public: random.chance(0.5) ? ['user'] : [] },
    grantable: [
      on('group', 'member', ['user'], true),
      ...['folder', 'document'].flatMap((namespace) => [
        on(namespace, 'parent', ['folder'], false),
        ...['owner', 'editor', 'viewer'].map((relation) => on(namespace, relation, ['user'], true)),
      ]),
    ],
  };
}

/** The grants that a case draws from, without those that its world does not allow. */
class Drawing {
  readonly #random: SeededRandom;
  readonly #world: World;
  /** How many grants may still close a cycle. */
  #cyclesLeft: number;
  /** Of each namespace; unless it may close a cycle, an entity is granted things on later ones only. */
  readonly entities: readonly string[];
  readonly grants = new Map<string, Grant>();

  constructor(random: SeededRandom, world: World, cycles: number) {
    this.#random = random;
    this.#world = world;
    this.#cyclesLeft = cycles;
    const all = NAMESPACES.flatMap((namespace) => [1, 2, 3, 4].map((id) => `${namespace}:n${id}`));
    const order = new Map(all.map((entity) => [entity, random.fraction()]));
    this.entities = all.toSorted((left, right) => (order.get(left) ?? 0) - (order.get(right) ?? 0));
  }

  someIn(namespace: string): string {
    return this.#random.pick(this.entities.filter((entity) => namespaceOf(entity) === namespace));
  }

  #isForward(subject: string, object: string): boolean {
    if (subject.endsWith(':*')) return true;
    const [entity = ''] = subject.split('#');
    if (this.entities.indexOf(entity) < this.entities.indexOf(object)) return true;
    this.#cyclesLeft -= 1;
    return this.#cyclesLeft >= 0;
  }

  one(): Grant | undefined {
    const { relation, namespace, entities, everyone, groups } = this.#random.pick(this.#world.grantable);
    const object = this.someIn(namespace);
    const kinds = [
      () => this.someIn(this.#random.pick(entities)),
      ...(groups.length === 0 ? [] : [() => this.#groupOf(groups)]),
      ...(everyone.length === 0 ? [] : [() => `${this.#random.pick(everyone)}:*`]),
    ];
    const subject = this.#random.pick(kinds)();
    return this.#isForward(subject, object) ? { subject, relation, object } : undefined;
  }

  #groupOf(groups: Grantable['groups']): string {
    const { namespace, name } = this.#random.pick(groups);
    return `${this.someIn(namespace)}#${name}`;
  }

  /** A few come, and a quarter of what is there goes. */
  step(count: number): readonly Change[] {
    const revoked = [...this.grants.values()].filter(() => this.#random.chance(0.25));
    return this.#change(
      revoked,
      Array.from({ length: count }, () => this.one()),
    );
  }

  add(grants: readonly Grant[]): readonly Change[] {
    return this.#change([], grants);
  }

  #change(revoked: readonly Grant[], drawn: readonly (Grant | undefined)[]): readonly Change[] {
    const before = new Map(this.grants);
    for (const grant of revoked) this.grants.delete(keyOf(grant));
    for (const grant of drawn) {
      const { subject, relation, object } = grant ?? { subject: '', relation: '', object: '' };
      if (grant !== undefined && isGrantable(this.#world, subject, relation, object))
        this.grants.set(keyOf(grant), grant);
    }
    return [
      ...[...before].filter(([key]) => !this.grants.has(key)).map(([, grant]) => ({ ...grant, revoke: true })),
      ...[...this.grants].filter(([key]) => !before.has(key)).map(([, grant]) => ({ ...grant, revoke: false })),
    ];
  }
}

const number = (count: number, of: (index: number) => Grant): readonly Grant[] =>
  Array.from({ length: count }, (_, index) => of(index));

/** A chain of folders with a document at its end, and a chain of groups that views the first folder. */
function deepGrants(random: SeededRandom): readonly Grant[] {
  const folders = random.whole(1, DEPTH_MAX);
  const groups = random.whole(1, DEPTH_MAX - Math.min(folders, DEPTH_MAX - 1));
  return [
    { subject: 'user:n1', relation: 'member', object: 'group:g0' },
    ...number(groups, (at) => ({ subject: `group:g${at}#member`, relation: 'member', object: `group:g${at + 1}` })),
    { subject: `group:g${groups}#member`, relation: 'viewer', object: 'folder:f0' },
    { subject: 'user:n2', relation: random.pick(['owner', 'editor']), object: 'folder:f0' },
    ...number(folders, (at) => ({ subject: `folder:f${at}`, relation: 'parent', object: `folder:f${at + 1}` })),
    { subject: `folder:f${folders}`, relation: 'parent', object: 'document:n1' },
    { subject: `folder:f${random.whole(0, folders)}`, relation: 'parent', object: 'document:n2' },
  ];
}

function wideGrants(random: SeededRandom): readonly Grant[] {
  const members = random.whole(20, MEMBERS_MAX);
  const documents = random.whole(10, 150);
  return [
    ...number(members, (at) => ({
      subject: `user:m${at}`,
      relation: 'member',
      object: random.chance(0.8) ? 'group:n1' : 'group:n2',
    })),
    { subject: 'group:n2#member', relation: 'member', object: 'group:n1' },
    { subject: 'group:n1#member', relation: 'viewer', object: 'folder:n1' },
    ...number(documents, (at) => ({
      subject: random.chance(0.7) ? 'folder:n1' : 'folder:n2',
      relation: 'parent',
      object: `document:d${at}`,
    })),
  ];
}

const entityOf = (text: string): string => text.split('#')[0] ?? '';

/** The subject of a grant, and an object that a few more grants may lead to from there. */
function walk(random: SeededRandom, drawing: Drawing): Grant | undefined {
  const grants = [...drawing.grants.values()];
  if (grants.length === 0) return undefined;
  const first = random.pick(grants);
  let last = first;
  for (let steps = random.whole(0, WALK_MAX); steps > 0; steps -= 1) {
    const next = grants.filter(({ subject }) => entityOf(subject) === last.object);
    if (next.length === 0) break;
    last = random.pick(next);
  }
  return { ...last, subject: first.subject };
}

/** Mostly about what grants connect, and so often answered with yes. */
function questionOf(random: SeededRandom, world: World, drawing: Drawing): Question {
  const walked = random.chance(0.8) ? walk(random, drawing) : undefined;
  const namesOf = (entity: string): readonly string[] => namesOn(world, namespaceOf(entity));
  const named = drawing.entities.filter((entity) => namesOf(entity).length > 0);
  const object = walked?.object ?? random.pick(named);
  const relation = walked !== undefined && random.chance(0.3) ? walked.relation : random.pick(namesOf(object));
  const given = entityOf(walked?.subject ?? random.pick(drawing.entities));
  const entity = given.endsWith(':*') && random.chance(0.9) ? drawing.someIn(namespaceOf(given)) : given;
  const name = world.ruleSet.groups && random.chance(0.25) ? random.pick(['', ...namesOf(entity)]) : '';
  const isGroup = name !== '' && !entity.endsWith(':*');
  const subject = isGroup ? `${entity}#${name}` : entity;
  switch (random.weighted({ check: 3, objects: 1, subjects: 1 })) {
    case 'check':
      return { kind: 'check', subject, relation, object };
    case 'objects':
      return { kind: 'objects', subject, relation, namespace: namespaceOf(object) };
    case 'subjects':
      return { kind: 'subjects', object, relation, namespace: namespaceOf(entity), name: isGroup ? name : undefined };
  }
}

export function caseOf(seed: string): Case {
  const random = new SeededRandom(seed);
  const profile = random.weighted(PROFILES);
  const isRandom = profile !== 'deep' && profile !== 'wide';
  let world = isRandom ? randomWorld(random) : documentWorld(random);
  while (world.grantable.length === 0) world = randomWorld(random);
  const drawing = new Drawing(random, world, CYCLES[profile]);
  const first = (): readonly Change[] => {
    if (profile === 'deep') return drawing.add(deepGrants(random));
    if (profile === 'wide') return drawing.add(wideGrants(random));
    return drawing.step(random.whole(1, GRANTS_MAX_SMALL));
  };
  const steps = Array.from({ length: STEPS }, (_, index): Step => {
    const changes = index === 0 ? first() : profile === 'deep' ? drawing.step(2) : drawing.step(random.whole(1, 8));
    const questions = Array.from({ length: QUESTIONS_PER_STEP }, () => questionOf(random, world, drawing));
    return { changes, questions };
  });
  return { world, steps };
}
