// Small models in a neutral form: how they are drawn, how each language writes them, and what they mean. The meaning is
// a fixpoint over all facts, with nothing in common with the code under test.

import fc from 'fast-check';

export type Term =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'from'; readonly name: string; readonly from: string }
  | { readonly kind: 'and'; readonly names: readonly [string, string] }
  /** `not` is a relation that is only granted, and not to groups, so that a fixpoint exists. */
  | { readonly kind: 'not'; readonly name: string; readonly not: string };

export interface NeutralRestriction {
  readonly type: string;
  readonly suffix: '' | ':*' | `#${string}`;
  readonly condition: boolean;
}

export interface NeutralRelation {
  readonly name: string;
  readonly restrictions: readonly NeutralRestriction[];
  /** What else the holder of a grant needs, or must not have been granted. */
  readonly besides: { readonly kind: 'and' | 'not'; readonly name: string } | undefined;
  readonly terms: readonly Term[];
}

export type NeutralModel = ReadonlyMap<string, readonly NeutralRelation[]>;

export interface NeutralTuple {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  /** Its condition is never met. */
  readonly conditional: boolean;
}

export const typeOf = (entity: string): string => entity.slice(0, entity.indexOf(':'));

// How the languages write them.

const restrictionText = ({ type, suffix, condition }: NeutralRestriction): string =>
  `${type}${suffix}${condition ? ' with rainy' : ''}`;

const fgaTerm = (term: Term): string => {
  if (term.kind === 'name') return term.name;
  if (term.kind === 'from') return `${term.name} from ${term.from}`;
  return term.kind === 'and' ? `(${term.names.join(' and ')})` : `(${term.name} but not ${term.not})`;
};

function fgaGranted({ restrictions, besides }: NeutralRelation): string[] {
  if (restrictions.length === 0) return [];
  const list = `[${restrictions.map(restrictionText).join(', ')}]`;
  return [besides === undefined ? list : `(${list} ${besides.kind === 'and' ? 'and' : 'but not'} ${besides.name})`];
}

/** `unfit`: the condition cannot be evaluated. */
const celText = (unfit: boolean): string => (unfit ? 'sky.looks_like("rain}")' : 'sky == "rain}"');

export function fgaText(model: NeutralModel, unfit: boolean): string {
  const types = [...model].map(([type, relations]) => {
    const defines = relations.map((relation) => {
      const { name, terms } = relation;
      const stored = fgaGranted(relation);
      return `    define ${name}: ${[...stored, ...terms.map(fgaTerm)].join(' or ')}\n`;
    });
    return `type ${type}\n${defines.length === 0 ? '' : `  relations\n${defines.join('')}`}`;
  });
  return `model\n  schema 1.1\n${types.join('')}condition rainy(sky: string) {\n  ${celText(unfit)}\n}\n`;
}

const named = (relation: string): object => ({ computedUserset: { object: '', relation } });

function jsonGranted({ restrictions, besides }: NeutralRelation): object[] {
  if (restrictions.length === 0) return [];
  if (besides === undefined) return [{ this: {} }];
  return besides.kind === 'and'
    ? [{ intersection: { child: [{ this: {} }, named(besides.name)] } }]
    : [{ difference: { base: { this: {} }, subtract: named(besides.name) } }];
}

const jsonTerm = (term: Term): object => {
  if (term.kind === 'name') return named(term.name);
  if (term.kind === 'and') return { intersection: { child: term.names.map(named) } };
  if (term.kind === 'not') return { difference: { base: named(term.name), subtract: named(term.not) } };
  return { tupleToUserset: { tupleset: { relation: term.from }, computedUserset: { relation: term.name } } };
};

const jsonRestriction = ({ type, suffix, condition }: NeutralRestriction): object => ({
  type,
  ...(suffix === ':*' ? { wildcard: {} } : {}),
  ...(suffix.startsWith('#') ? { relation: suffix.slice(1) } : {}),
  condition: condition ? 'rainy' : '',
});

export function jsonText(model: NeutralModel, unfit: boolean): string {
  const definitions = [...model].map(([type, relations]) => ({
    type,
    relations: Object.fromEntries(
      relations.map((relation) => {
        const { name, terms } = relation;
        const child = [...jsonGranted(relation), ...terms.map(jsonTerm)];
        return [name, child.length === 1 ? child[0] : { union: { child } }];
      }),
    ),
    metadata: {
      relations: Object.fromEntries(
        relations.map(({ name, restrictions }) => [
          name,
          { directly_related_user_types: restrictions.map(jsonRestriction) },
        ]),
      ),
    },
  }));
  const rainy = {
    name: 'rainy',
    expression: celText(unfit),
    parameters: { sky: { type_name: 'TYPE_NAME_STRING', generic_types: [] } },
  };
  return JSON.stringify({ schema_version: '1.1', type_definitions: definitions, conditions: { rainy } }, undefined, 2);
}

const zedTerm = (term: Term, index: number): string => {
  if (term.kind === 'name') return term.name;
  if (term.kind === 'from') return index % 2 ? `${term.from}.any(${term.name})` : `${term.from}->${term.name}`;
  return term.kind === 'and' ? `(${term.names.join(' & ')})` : `(${term.name} - ${term.not})`;
};

/** Only of models in which nothing is both granted and derived: SpiceDB keeps them apart. */
export function zedText(model: NeutralModel, unfit: boolean): string {
  const types = [...model].map(([type, relations]) => {
    const lines = relations.map(({ name, restrictions, terms }) =>
      restrictions.length > 0
        ? `  relation ${name}: ${restrictions.map(restrictionText).join(' | ')}\n`
        : `  permission ${name} = ${terms.map(zedTerm).join(' + ')}\n`,
    );
    return `/* a type */\ndefinition ${type} {\n${lines.join('')}}\n`;
  });
  return `caveat rainy(sky string) {\n  ${celText(unfit)}\n}\n${types.join('')}`;
}

// What they mean.

/** Adds facts until none is new. A fact is `subject relation object`. */
export function fixpoint(
  entities: readonly string[],
  holds: (facts: ReadonlySet<string>, fact: Fact) => boolean,
  names: (type: string) => readonly string[],
): Set<string> {
  const facts = new Set<string>();
  for (let before = -1; before < facts.size; ) {
    before = facts.size;
    for (const object of entities) {
      for (const relation of names(typeOf(object))) {
        for (const subject of entities) {
          const fact = { subject, relation, object };
          if (!facts.has(factText(fact)) && holds(facts, fact)) facts.add(factText(fact));
        }
      }
    }
  }
  return facts;
}

export interface Fact {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
}

export const factText = ({ subject, relation, object }: Fact): string => `${subject} ${relation} ${object}`;

/** Whether a grant to `granted` is one to `subject`. */
export function isGrantedTo(facts: ReadonlySet<string>, granted: string, subject: string): boolean {
  if (granted === subject) return true;
  const [group = '', relation] = granted.split('#');
  if (relation !== undefined) return facts.has(factText({ subject, relation, object: group }));
  return granted.endsWith(':*') && typeOf(granted) === typeOf(subject);
}

export function meaningOf(
  model: NeutralModel,
  tuples: readonly NeutralTuple[],
  entities: readonly string[],
): Set<string> {
  const granted = (facts: ReadonlySet<string>, { subject, relation, object }: Fact): boolean =>
    tuples.some(
      (tuple) =>
        !tuple.conditional &&
        tuple.object === object &&
        tuple.relation === relation &&
        isGrantedTo(facts, tuple.subject, subject),
    );
  const termHolds = (facts: ReadonlySet<string>, term: Term, { subject, object }: Fact): boolean => {
    const has = (relation: string): boolean => facts.has(factText({ subject, relation, object }));
    if (term.kind === 'name') return has(term.name);
    if (term.kind === 'and') return term.names.every(has);
    if (term.kind === 'not') return has(term.name) && !granted(new Set(), { subject, relation: term.not, object });
    return tuples.some(
      (tuple) =>
        !tuple.conditional &&
        tuple.object === object &&
        tuple.relation === term.from &&
        facts.has(factText({ subject, relation: term.name, object: tuple.subject })),
    );
  };
  return fixpoint(
    entities,
    (facts, fact) => {
      const relation = model.get(typeOf(fact.object))?.find(({ name }) => name === fact.relation);
      if (relation === undefined) return false;
      const { besides, terms } = relation;
      const other = { ...fact, relation: besides?.name ?? '' };
      const counts =
        besides === undefined || (besides.kind === 'and' ? facts.has(factText(other)) : !granted(new Set(), other));
      return (counts && granted(facts, fact)) || terms.some((term) => termHolds(facts, term, fact));
    },
    (type) => (model.get(type) ?? []).map(({ name }) => name),
  );
}

// How they are drawn.

const TYPES = ['group', 'folder', 'document'];
const NAMES = ['member', 'owner', 'parent', 'viewer', 'editor', 'reader', 'writer', 'can_view', 'can_edit'];

const number = fc.nat({ max: 1000 });

const relationDraw = fc.record({
  name: fc.constantFrom(...NAMES),
  form: fc.constantFrom('granted', 'granted', 'derived', 'both'),
  besides: number,
  restrictions: fc.array(fc.record({ kind: number, type: number, name: number }), { minLength: 1, maxLength: 3 }),
  terms: fc.array(fc.record({ kind: number, name: number, from: number }), { minLength: 1, maxLength: 3 }),
});

interface ModelDraw {
  readonly types: readonly (readonly (typeof relationDraw extends fc.Arbitrary<infer Draw> ? Draw : never)[])[];
  readonly tuples: readonly {
    readonly relation: number;
    readonly restriction: number;
    readonly subject: number;
    readonly object: number;
  }[];
}

/** `fits`: walks only over what can be followed. `apart`: nothing is both granted and derived. */
export interface Drawing {
  readonly fits: boolean;
  readonly apart: boolean;
}

const at = <Item>(items: readonly Item[], index: number): Item | undefined => items[index % Math.max(items.length, 1)];

function modelFrom({ types }: ModelDraw, { fits, apart }: Drawing): NeutralModel {
  const names = new Map(TYPES.map((type, index) => [type, (types[index] ?? []).map(({ name }) => name)]));
  const isDerived = (form: string): boolean => form === 'derived';
  const restrictionOf = (draw: { kind: number; type: number; name: number }): NeutralRestriction => {
    const kind = draw.kind % 10;
    const condition = draw.kind % 17 === 0;
    if (kind < 4) return { type: 'user', suffix: '', condition };
    if (kind === 4) return { type: 'user', suffix: ':*', condition };
    const type = at(TYPES, draw.type) ?? 'group';
    const name = at(names.get(type) ?? [], draw.name);
    return { type, suffix: kind < 7 && name !== undefined ? `#${name}` : '', condition };
  };
  const model = new Map<string, NeutralRelation[]>([['user', []]]);
  for (const [index, type] of TYPES.entries()) {
    const draws = types[index] ?? [];
    const restrictions = new Map(draws.map((draw) => [draw.name, draw.restrictions.map(restrictionOf)]));
    const onlyGranted = draws.filter(({ form }) => form === 'granted').map(({ name }) => name);
    const followable = onlyGranted.filter((name) => restrictions.get(name)?.every(({ suffix }) => suffix === ''));
    const excludable = onlyGranted.filter((name) =>
      restrictions.get(name)?.every(({ suffix }) => !suffix.startsWith('#')),
    );
    const termOf = (draw: { kind: number; name: number; from: number }): Term => {
      const kind = draw.kind % 12;
      const name = at(draws, draw.name)?.name ?? 'viewer';
      const other = at(draws, draw.from)?.name ?? 'viewer';
      if (kind >= 11) return { kind: 'and', names: [name, other] };
      const not = at(excludable, draw.from);
      if (kind === 10 && not !== undefined) return { kind: 'not', name, not };
      const from = fits || draw.kind % 13 > 0 ? at(followable, draw.from) : other;
      if (kind < 4 || from === undefined) return { kind: 'name', name };
      return { kind: 'from', name: at(NAMES, draw.name) ?? 'viewer', from };
    };
    // What others exclude stays granted alone, so that a fixpoint exists.
    const besidesOf = (draw: number, of: string): NeutralRelation['besides'] => {
      const kind = draw % 8 === 0 ? 'and' : 'not';
      const name = at(kind === 'and' ? draws.map((each) => each.name) : excludable, draw);
      return apart || excludable.includes(of) || draw % 8 > 1 || name === undefined ? undefined : { kind, name };
    };
    model.set(
      type,
      draws.map(({ name, form, besides, terms }) => ({
        name,
        besides: besidesOf(besides, name),
        restrictions: isDerived(form) ? [] : (restrictions.get(name) ?? []),
        terms: form === 'granted' || (apart && form === 'both') ? [] : terms.map(termOf),
      })),
    );
  }
  return model;
}

function tuplesFrom(model: NeutralModel, { tuples }: ModelDraw): NeutralTuple[] {
  const granted = [...model].flatMap(([type, relations]) =>
    relations.filter(({ restrictions }) => restrictions.length > 0).map((relation) => ({ type, relation })),
  );
  return tuples.flatMap((draw) => {
    const found = at(granted, draw.relation);
    const restriction = at(found?.relation.restrictions ?? [], draw.restriction);
    if (found === undefined || restriction === undefined) return [];
    const id = `:${1 + (draw.subject % 2)}`;
    return [
      {
        subject:
          restriction.suffix === ':*' ? `${restriction.type}:*` : `${restriction.type}${id}${restriction.suffix}`,
        relation: found.relation.name,
        object: `${found.type}:${1 + (draw.object % 2)}`,
        conditional: restriction.condition,
      },
    ];
  });
}

/** A model, and tuples that it allows. */
export const neutralModels = (drawing: Drawing): fc.Arbitrary<{ model: NeutralModel; tuples: NeutralTuple[] }> =>
  fc
    .record({
      types: fc.array(fc.uniqueArray(relationDraw, { selector: ({ name }) => name, minLength: 1, maxLength: 6 }), {
        minLength: TYPES.length,
        maxLength: TYPES.length,
      }),
      tuples: fc.array(fc.record({ relation: number, restriction: number, subject: number, object: number }), {
        maxLength: 14,
      }),
    })
    .map((draw) => {
      const model = modelFrom(draw, drawing);
      return { model, tuples: tuplesFrom(model, draw) };
    });

export const ENTITIES: readonly string[] = ['user', ...TYPES].flatMap((type) => [`${type}:1`, `${type}:2`]);
