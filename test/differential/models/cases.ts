// One case of a run, from its seed alone: a model with `and`, `but not`, conditions, groups and `*`, tuples that come
// and go in two steps, and what is asked after each.
//
// Names are in an order: on the same object, a name follows from earlier ones alone, and what is taken away is earlier
// everywhere. So no name is tied to its own negation by the model. Tuples to groups do it in `tangled` cases only.

import type { JsonObject } from '../../../src/core/json-members.ts';
import { SeededRandom } from '../../simulation/seeded-random.ts';
import type { Fact } from './chains.ts';
import { hasEntryPoints } from './entry-points.ts';
import { mayHold } from './may-hold.ts';
import {
  type Condition,
  conditionOf,
  type Dialect,
  type Expression,
  entityOf,
  type Model,
  type ModelCase,
  type ModelQuestion,
  type ModelStep,
  type Parameter,
  type Relation,
  relationOf,
  type SubjectKind,
  type Tuple,
  type Type,
  tupleKey,
  typeOf,
} from './model.ts';

const STORED = ['blocked', 'member', 'owner', 'editor', 'viewer'];
const COMPUTED = ['can_a', 'can_b', 'can_c'];
const NAMES = [...STORED, ...COMPUTED];
const PARENT = 'parent';
const OBJECT_TYPES = ['group', 'folder', 'document'];
const TYPES = ['user', ...OBJECT_TYPES];
const PARENTS: Readonly<Record<string, readonly string[]>> = {
  group: ['group'],
  folder: ['folder', 'group'],
  document: ['folder'],
};
const IDS = ['n1', 'n2', 'n3', 'n4'];
const STEPS = 2;
const QUESTIONS_PER_STEP = 20;
const TUPLES_MAX = 80;
/** Operators within operators. */
const NESTING_MAX = 2;
const TANGLED = 0.2;
/** Of the questions: those about what tuples lead the subject to. The others ask at random. */
const CONNECTED = 0.8;
const CONTEXT_TUPLES_MAX = 3;

const PARAMETERS: Readonly<Record<string, Parameter>> = {
  x: { type: 'int', values: [-1, 9, 10, 11] },
  flag: { type: 'bool', values: [true, false] },
  region: { type: 'string', values: ['eu', 'us', 'Eu'] },
  allowed: { type: 'list<string>', values: [['eu'], ['eu', 'us'], []] },
  ip: { type: 'ipaddress', values: ['10.1.2.3', '192.168.0.1', '10.255.255.255'] },
  now: { type: 'timestamp', values: ['2026-01-01T00:00:00Z', '2026-06-01T12:30:00Z', '2026-06-01T14:30:00+02:00'] },
  until: { type: 'timestamp', values: ['2026-06-01T12:30:00Z', '2026-06-01T12:30:01Z'] },
  window: { type: 'duration', values: ['1h', '0s', '1h30m'] },
};

const condition = (name: string, expression: string, ...parameters: readonly string[]): Condition => ({
  name,
  parameters: Object.fromEntries(
    parameters.flatMap((each) => {
      const parameter = PARAMETERS[each];
      return parameter === undefined ? [] : [[each, parameter]];
    }),
  ),
  expression,
});

const CONDITIONS: readonly Condition[] = [
  condition('small', 'x < 10', 'x'),
  condition('either', 'x < 10 || flag', 'x', 'flag'),
  condition('both', 'x >= 10 && region.startsWith("e")', 'x', 'region'),
  condition('in_region', 'region in allowed', 'region', 'allowed'),
  condition('in_office', 'ip.in_cidr("10.0.0.0/8")', 'ip'),
  condition('open', 'now < until', 'now', 'until'),
  condition('soon', 'until - now <= window && !(flag && region == "us")', 'now', 'until', 'window', 'flag', 'region'),
];

/** Draws a model. */
class ModelDrawing {
  readonly #random: SeededRandom;
  readonly #dialect: Dialect;
  /** Names by type. */
  readonly #names: ReadonlyMap<string, readonly string[]>;
  readonly #conditions: readonly Condition[];

  constructor(random: SeededRandom, dialect: Dialect) {
    this.#random = random;
    this.#dialect = dialect;
    this.#names = new Map(
      OBJECT_TYPES.map((type) => [type, NAMES.filter((name) => name === 'member' || random.chance(0.75))]),
    );
    this.#conditions = random.chance(0.7) ? CONDITIONS.filter(() => random.chance(0.4)) : [];
  }

  model(): Model {
    const types = OBJECT_TYPES.map((type): Type => {
      const parent: Relation = { name: PARENT, subjects: this.#parents(type), expression: { kind: 'stored' } };
      return { name: type, relations: [parent, ...this.#namesOn(type).map((name) => this.#relation(type, name))] };
    });
    return { dialect: this.#dialect, types: [{ name: 'user', relations: [] }, ...types], conditions: this.#conditions };
  }

  #namesOn(type: string): readonly string[] {
    return this.#names.get(type) ?? [];
  }

  /** Without one, or with one, or either. */
  #conditioned(kind: Omit<SubjectKind, 'condition'>): readonly SubjectKind[] {
    const plain = { ...kind, condition: undefined };
    if (this.#conditions.length === 0 || this.#random.chance(0.6)) return [plain];
    const guarded = { ...kind, condition: this.#random.pick(this.#conditions).name };
    return this.#random.chance(0.5) ? [guarded] : [plain, guarded];
  }

  #parents(type: string): readonly SubjectKind[] {
    return (PARENTS[type] ?? []).flatMap((each) => this.#conditioned({ type: each, of: 'single', name: undefined }));
  }

  #subjects(): readonly SubjectKind[] {
    const random = this.#random;
    const single = ['user', ...OBJECT_TYPES.filter(() => random.chance(0.15))];
    const kinds = single.flatMap((type) => this.#conditioned({ type, of: 'single', name: undefined }));
    if (random.chance(0.35)) kinds.push(...this.#conditioned({ type: 'user', of: 'everyone', name: undefined }));
    for (const type of ['group', 'folder']) {
      if (!random.chance(type === 'group' ? 0.5 : 0.2)) continue;
      const name = random.pick(this.#namesOn(type));
      kinds.push(...this.#conditioned({ type, of: 'group', name }));
    }
    return kinds;
  }

  #relation(type: string, name: string): Relation {
    const stored: Expression = { kind: 'stored' };
    if (COMPUTED.includes(name)) return { name, subjects: [], expression: this.#gate(type, NAMES.indexOf(name), 0) };
    const subjects = this.#subjects();
    if (this.#dialect === 'spicedb' || this.#random.chance(0.6)) return { name, subjects, expression: stored };
    const other = this.#expression(type, { level: NAMES.indexOf(name), negated: false, depth: 1 });
    const kind = this.#random.pick(['union', 'intersection', 'exclusion'] as const);
    if (other === undefined) return { name, subjects, expression: stored };
    if (kind === 'union') return { name, subjects, expression: { kind, parts: [stored, other] } };
    if (kind === 'intersection') return { name, subjects, expression: { kind, parts: [stored, other] } };
    const subtract = this.#expression(type, { level: NAMES.indexOf(name), negated: true, depth: 1 });
    return { name, subjects, expression: subtract === undefined ? stored : { kind, base: stored, subtract } };
  }

  /** What there is in any case: `member` comes early in the order. */
  #gate(type: string, level: number, depth: number): Expression {
    return this.#expression(type, { level, negated: false, depth }) ?? { kind: 'name', name: 'member' };
  }

  #expression(
    type: string,
    at: { readonly level: number; readonly negated: boolean; readonly depth: number },
  ): Expression | undefined {
    const random = this.#random;
    const deeper = { ...at, depth: at.depth + 1 };
    if (at.depth >= NESTING_MAX || random.chance(0.3)) return this.#leaf(type, at);
    if (random.chance(0.35)) {
      const base = this.#expression(type, deeper);
      const subtract = this.#expression(type, { ...deeper, negated: true });
      return base === undefined || subtract === undefined ? base : { kind: 'exclusion', base, subtract };
    }
    const parts = Array.from({ length: random.whole(2, 3) }, () => this.#expression(type, deeper)).filter(
      (part) => part !== undefined,
    );
    const [first] = parts;
    return parts.length > 1 ? { kind: random.pick(['union', 'intersection'] as const), parts } : first;
  }

  #leaf(type: string, { level, negated }: { readonly level: number; readonly negated: boolean }) {
    const random = this.#random;
    const earlier = this.#namesOn(type).filter((name) => NAMES.indexOf(name) < level);
    const onParents = (PARENTS[type] ?? []).flatMap((parent) => this.#namesOn(parent));
    const followed = onParents.filter((name) => NAMES.indexOf(name) < level + (negated ? 0 : 1));
    if (followed.length > 0 && (earlier.length === 0 || random.chance(0.4))) {
      const all = this.#dialect === 'spicedb' && random.chance(0.3);
      return { kind: 'from', name: random.pick(followed), from: PARENT, all } as const;
    }
    return earlier.length === 0 ? undefined : ({ kind: 'name', name: random.pick(earlier) } as const);
  }
}

/** Draws tuples and questions. */
class Drawing {
  readonly #random: SeededRandom;
  readonly #model: Model;
  readonly #isTangled: boolean;
  /** Unless the case is tangled, an entity is granted things on later ones only. */
  readonly #order: ReadonlyMap<string, number>;
  readonly #tuples = new Map<string, Tuple>();

  constructor(random: SeededRandom, model: Model, isTangled: boolean) {
    this.#random = random;
    this.#model = model;
    this.#isTangled = isTangled;
    this.#order = new Map(TYPES.flatMap((type) => IDS.map((id) => [`${type}:${id}`, random.fraction()])));
  }

  #entity = (type: string): string => `${type}:${this.#random.pick(IDS)}`;

  #someContext(parameters: readonly string[], share: number): JsonObject {
    const chosen = parameters.filter(() => this.#random.chance(share));
    return Object.fromEntries(chosen.map((each) => [each, this.#random.pick(PARAMETERS[each]?.values ?? [])]));
  }

  /** Half of them are between two that another tuple is between, as an `and` or a `but not` wants it. */
  #tuple(): Tuple | undefined {
    const random = this.#random;
    const beside = this.#tuples.size > 0 && random.chance(0.5) ? random.pick([...this.#tuples.values()]) : undefined;
    const ofType = ({ name }: Type): boolean => beside === undefined || name === typeOf(beside.object);
    const type = random.pick(this.#model.types.filter((each) => each.relations.length > 0 && ofType(each)));
    const relation = random.pick(type.relations.filter(({ subjects }) => subjects.length > 0));
    const given = beside === undefined ? undefined : kindOf(beside.subject);
    const kinds = relation.subjects.filter((each) => given === undefined || isSameKind(each, given));
    if (kinds.length === 0) return undefined;
    const kind = random.pick(kinds);
    const object = beside?.object ?? this.#entity(type.name);
    const subject = beside?.subject ?? this.#subjectOfKind(kind);
    if (!this.#isAllowed(entityOf(subject), object)) return undefined;
    const guard = conditionOf(this.#model, kind.condition);
    const plain = { subject, relation: relation.name, object };
    if (guard === undefined) return plain;
    const context = this.#someContext(Object.keys(guard.parameters), 0.4);
    return { ...plain, condition: { name: guard.name, context } };
  }

  #subjectOfKind({ type, of, name }: SubjectKind): string {
    if (of === 'everyone') return `${type}:*`;
    return of === 'group' ? `${this.#entity(type)}#${name}` : this.#entity(type);
  }

  #isAllowed(entity: string, object: string): boolean {
    const isForward = (this.#order.get(entity) ?? 0) < (this.#order.get(object) ?? 0);
    return typeOf(entity) === 'user' || isForward || (this.#isTangled && entity !== object);
  }

  step(count: number): ModelStep {
    const random = this.#random;
    const revoked = [...this.#tuples.values()].filter(() => random.chance(0.25));
    for (const each of revoked) this.#tuples.delete(tupleKey(each));
    const gone = new Set(revoked.map(tupleKey));
    const granted: Tuple[] = [];
    for (let left = count; left > 0; left -= 1) {
      const tuple = this.#tuple();
      if (tuple === undefined || this.#tuples.has(tupleKey(tuple)) || gone.has(tupleKey(tuple))) continue;
      this.#tuples.set(tupleKey(tuple), tuple);
      granted.push(tuple);
    }
    return { granted, revoked, questions: Array.from({ length: QUESTIONS_PER_STEP }, () => this.#question()) };
  }

  #contextTuples(): readonly Tuple[] {
    if (this.#model.dialect === 'spicedb' || this.#random.chance(0.8)) return [];
    const drawn = Array.from({ length: this.#random.whole(1, CONTEXT_TUPLES_MAX) }, () => this.#tuple());
    const fresh = drawn.filter((each) => each !== undefined && !this.#tuples.has(tupleKey(each)));
    return [...new Map(fresh.flatMap((each) => (each === undefined ? [] : [[tupleKey(each), each]]))).values()];
  }

  #subject(tuples: readonly Tuple[]): string {
    if (tuples.length === 0 || this.#random.chance(0.3)) return this.#entity('user');
    const { subject } = this.#random.pick(tuples);
    if (subject.endsWith(':*')) return this.#random.chance(0.2) ? subject : this.#entity('user');
    const entity = entityOf(subject);
    if (typeOf(entity) === 'user') return entity;
    return this.#random.pick([entity, subject, this.#entity('user')]);
  }

  /** Mostly what tuples lead the subject to. */
  #fact(tuples: readonly Tuple[], subject: string): Fact {
    const random = this.#random;
    const facts = random.chance(CONNECTED) ? mayHold(this.#model, tuples, subject) : [];
    const connected = facts.filter(({ object }) => typeOf(object) !== 'user');
    if (connected.length > 0) return random.pick(connected);
    const object =
      tuples.length > 0 && random.chance(0.8) ? random.pick(tuples).object : this.#entity(random.pick(OBJECT_TYPES));
    const relations = this.#model.types.find(({ name }) => name === typeOf(object))?.relations ?? [];
    return { name: random.pick(relations).name, object };
  }

  #question(): ModelQuestion {
    const random = this.#random;
    const kind = random.weighted({ check: 3, objects: 1, subjects: 1 });
    const share = random.chance(kind === 'check' ? 0.3 : 0.1) ? 0.6 : 1;
    const used = this.#model.conditions.flatMap(({ parameters }) => Object.keys(parameters));
    const call = { context: this.#someContext([...new Set(used)], share), contextTuples: this.#contextTuples() };
    const tuples = [...this.#tuples.values(), ...call.contextTuples];
    const subject = this.#subject(tuples);
    const { name: relation, object } = this.#fact(tuples, subject);
    if (kind === 'check') return { kind, subject, relation, object, ...call };
    if (kind === 'objects') return { kind, subject, relation, type: typeOf(object), ...call };
    return { kind, object, relation, type: random.chance(0.8) ? typeOf(subject) : random.pick(TYPES), ...call };
  }
}

const kindOf = (subject: string): Omit<SubjectKind, 'condition'> => {
  const [entity = '', name] = subject.split('#');
  const of = name !== undefined ? 'group' : entity.endsWith(':*') ? 'everyone' : 'single';
  return { type: typeOf(entity), of, name };
};

const isSameKind = (one: SubjectKind, other: Omit<SubjectKind, 'condition'>): boolean =>
  one.type === other.type && one.of === other.of && one.name === other.name;

/** A group may be named by a permission of SpiceDB that has `*` in it, but not by a relation. */
function withoutOpenGroups(model: Model): Model {
  const isOpen = ({ type, of, name = '' }: SubjectKind): boolean =>
    of === 'group' && (relationOf(model, type, name)?.subjects.some((each) => each.of === 'everyone') ?? false);
  const types = model.types.map(({ name, relations }) => ({
    name,
    relations: relations.map((each) => ({ ...each, subjects: each.subjects.filter((kind) => !isOpen(kind)) })),
  }));
  return { ...model, types };
}

function drawModel(random: SeededRandom, dialect: Dialect): Model {
  for (;;) {
    const model = new ModelDrawing(random, dialect).model();
    if (dialect === 'spicedb') return withoutOpenGroups(model);
    if (hasEntryPoints(model)) return model;
  }
}

export function modelCaseOf(seed: string, dialect: Dialect): ModelCase {
  const random = new SeededRandom(`${seed}/${dialect}`);
  const model = drawModel(random.fork('model'), dialect);
  const drawing = new Drawing(random.fork('tuples'), model, dialect === 'openfga' && random.chance(TANGLED));
  const steps = Array.from({ length: STEPS }, (_, index) =>
    drawing.step(index === 0 ? random.whole(5, TUPLES_MAX) : random.whole(1, 10)),
  );
  return { model, steps };
}
