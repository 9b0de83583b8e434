// Random rule sets of every shape that a `PUT` accepts, with names that are words of the text form, and expressions in
// every layout.

import fc from 'fast-check';
import { RELATIONS } from '../../../../src/core/tuples.ts';
import type { ElementRecord } from '../../../../src/rules/rule-set.ts';

const WORDS = [
  ...['or', 'and', 'but', 'not', 'from', 'with', 'all', 'of', 'as', 'nobody', 'groups', 'public', 'private', 'states'],
  ...[
    'relations',
    'namespace',
    'condition',
    'define',
    'type',
    'relation',
    'on',
    'off',
    'true',
    'x-',
    'a.b',
    'A_',
    'veiwer',
  ],
  ...['viewers', 'owners', 'Member', 'approver', 'approved', 'blocked', 'b', 'c', 'd-e', 'folder', 'document', 'team'],
];
const name = fc
  .oneof(fc.constantFrom(...WORDS), fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,6}$/))
  .filter((each) => each !== 'self' && !RELATIONS.some((relation) => relation === each));

const EXPRESSIONS = [
  'x < 1',
  ' x<1',
  'x < 1 ',
  'x < 1 &&\n  y == "a"',
  '\nx < 1\n',
  '  x < 1 &&\n  y == "#"',
  'y == " # no comment"',
  'y == "x // no" // a comment in CEL',
  'x < 1 // CEL\n&& y == "b"',
  'y == """two\n  lines"""',
  'y == r"""\\"""',
  "y == '\\'# it'",
  'y == "a"\r\n|| x < 1',
  'y == "a"\r|| x < 1',
  'x <\t1',
  'x < 1 &&\n\n\n   x > 0',
  'y == "\u2028"',
  'y == b"a" || y == rb"# x" ? true : false',
  '\fx < 1\f',
  'y == "as = ( {"',
];

interface World {
  readonly own: readonly string[];
  readonly states: readonly string[];
  readonly derived: readonly string[];
  readonly namespaces: readonly string[];
  readonly conditions: readonly string[];
}

const unique = (each: fc.Arbitrary<string>, max: number, min = 0): fc.Arbitrary<string[]> =>
  fc.uniqueArray(each, { minLength: min, maxLength: max });

const world: fc.Arbitrary<World> = fc
  .record({
    own: unique(name, 5, 1),
    states: unique(name, 3),
    derived: unique(name, 5),
    namespaces: unique(name, 4, 1),
    conditions: unique(name, 3),
  })
  .map(({ own, states, derived, ...others }) => {
    const without = (names: readonly string[], taken: readonly string[]) =>
      names.filter((each) => !taken.includes(each));
    return { ...others, own, states: without(states, own), derived: without(derived, [...own, ...states]) };
  });

function elementOf({ own, states, derived }: World): fc.Arbitrary<ElementRecord> {
  const [relation, granted] = [fc.constantFrom(...RELATIONS, ...own), fc.constantFrom(...own, ...states)];
  const used = fc.oneof(relation, fc.constantFrom('self', ...states, ...derived));
  const plain = fc.oneof(
    used,
    fc.tuple(used, relation).map(([each, from]) => `${each} from ${from}`),
    fc.tuple(used, relation).map(([each, from]) => `all of ${each} from ${from}`),
  );
  const { element } = fc.letrec<{ element: ElementRecord }>((tie) => {
    const list = fc.array(tie('element'), { minLength: 1, maxLength: 3 });
    // What rules take away has no rules, so that no name depends on itself through it.
    const without = fc.option(fc.array(granted, { minLength: 1, maxLength: 3 }), { nil: undefined });
    const nested = fc.option(fc.record({ any_of: fc.array(granted, { minLength: 1, maxLength: 2 }) }), {
      nil: undefined,
      freq: 3,
    });
    const gate = fc.record({ operator: fc.constantFrom('any_of', 'all_of'), list, without, nested }).map((each) => {
      const butNot = [...(each.without ?? []), ...(each.nested === undefined ? [] : [each.nested])];
      return { [each.operator]: each.list, ...(butNot.length === 0 ? {} : { but_not: butNot }) };
    });
    return { element: fc.oneof({ depthSize: 'small', maxDepth: 3, withCrossShrink: true }, plain, gate) };
  });
  return element;
}

function bodyOf(of: World): fc.Arbitrary<object> {
  const { own, states, derived, namespaces, conditions } = of;
  const namespace = fc.constantFrom(...namespaces);
  const condition = fc.constantFrom(...conditions.map((each) => ` with ${each}`), '');
  const subject = fc
    .tuple(
      namespace,
      fc.oneof(
        fc.constantFrom('', ':*'),
        fc.constantFrom(...RELATIONS, ...own).map((each) => `#${each}`),
      ),
      condition,
    )
    .map((parts) => parts.join(''));
  const pairs = (relation: fc.Arbitrary<string>) =>
    fc.uniqueArray(fc.tuple(namespace, relation), { maxLength: 8, selector: (pair) => pair.join(' ') });
  // Every namespace defines every derived name, so that each may be used in each.
  const defined = namespaces.flatMap((each) => derived.map((derivedName) => [each, derivedName] as const));
  return fc.record({
    relations: fc.shuffledSubarray([...own], { minLength: own.length }),
    states: fc.constant(states),
    conditions: fc.tuple(
      ...conditions.map((each) =>
        fc.record({
          name: fc.constant(each),
          parameters: fc.constantFrom({ x: 'int', y: 'string' }, { y: 'any', x: 'int', _z: 'map<list<string>>' }),
          expression: fc.constantFrom(...EXPRESSIONS),
        }),
      ),
    ),
    types: pairs(fc.constantFrom(...RELATIONS, ...own)).chain((list) =>
      fc.tuple(
        ...list.map(([each, relation]) =>
          fc.record({
            namespace: fc.constant(each),
            relation: fc.constant(relation),
            subjects: fc.array(subject, { maxLength: 4 }),
          }),
        ),
      ),
    ),
    rules: fc
      .tuple(pairs(fc.constantFrom(...RELATIONS)), fc.shuffledSubarray(defined, { minLength: defined.length }))
      .chain(([extra, all]) => {
        const keys = new Map([...all, ...extra].map(([each, rule]) => [`${each} ${rule}`, [each, rule] as const]));
        const anyOf = fc.array(elementOf(of), { minLength: 1, maxLength: 3 });
        return fc.tuple(
          ...[...keys.values()].map(([each, rule]) =>
            fc.record({ namespace: fc.constant(each), name: fc.constant(rule), any_of: anyOf }),
          ),
        );
      }),
    groups: fc.boolean(),
    public: unique(fc.constantFrom(...namespaces, 'user', 'or'), 3),
  });
}

/** Bodies of `PUT /v1/rules`, nearly all of which are accepted. */
export const ruleSetBodies: fc.Arbitrary<object> = world.chain(bodyOf);
