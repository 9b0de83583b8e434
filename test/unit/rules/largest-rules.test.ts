// The largest rules that a tenant may have: what they cost is counted, not timed. Each of these shapes once took time
// that grew with its square.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bitOf, CompiledRules } from '../../../src/rules/compiled-rules.ts';
import { JOIN_BYTES_MAX, joinSteps } from '../../../src/rules/join.ts';
import { parseRuleSet, parseRuleSetInTurns } from '../../../src/rules/parse-rule-set.ts';
import { NO_RULES, OWN_RELATIONS_MAX, RULES_MAX, type RuleElement, type RuleSet } from '../../../src/rules/rule-set.ts';
import { diffInSteps, namesConcerned, namesVanishing } from '../../../src/rules/rules-diff.ts';
import type { Steps } from '../../../src/rules/steps.ts';
import { printRules, printSteps } from '../../../src/rules/text/printer.ts';
import { ruleSetOfSource } from '../../../src/rules/text/rules-source.ts';

const numbered = <Item>(count: number, of: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => of(index));

const rule = (name: string, ...elements: readonly unknown[]) => ({ namespace: 'doc', name, any_of: elements });

/** Each name follows from the next, through a gate: in the order of the rules, the last is the first that holds. */
const CHAIN = {
  rules: numbered(RULES_MAX, (index) =>
    rule(`n${index}`, { all_of: [index === RULES_MAX - 1 ? 'viewer' : `n${index + 1}`, 'editor'] }),
  ),
};

const NAMES = numbered(OWN_RELATIONS_MAX, (index) => `r${index}_`.padEnd(64, 'x'));

const numberOf = (rules: CompiledRules, name: string): number => rules.numberOf(name) ?? assert.fail(name);

describe('the largest rules', () => {
  it('a chain of gates is followed in work that grows with its length', () => {
    const rules = new CompiledRules(parseRuleSet(CHAIN));
    const before = rules.spent;
    const held = rules.held('doc:1', bitOf(numberOf(rules, 'viewer')) | bitOf(numberOf(rules, 'editor')));
    for (const index of [0, 500, RULES_MAX - 1]) assert.notEqual(held & bitOf(numberOf(rules, `n${index}`)), 0n);
    assert.ok(rules.spent - before <= RULES_MAX, `${rules.spent - before}`);
    const again = rules.spent;
    assert.equal(rules.held('doc:1', bitOf(numberOf(rules, 'viewer')) | bitOf(numberOf(rules, 'editor'))), held);
    assert.equal(rules.spent, again);
  });

  it('one operand of a gate does not open it, and an operand twice counts once', () => {
    const rules = new CompiledRules(
      parseRuleSet({ rules: [rule('both', { all_of: ['viewer', 'viewer', { any_of: ['editor', 'owner'] }] })] }),
    );
    const [viewer, owner, both] = ['viewer', 'owner', 'both'].map((name) => bitOf(numberOf(rules, name)));
    assert.ok(viewer !== undefined && owner !== undefined && both !== undefined);
    assert.equal(rules.held('doc:1', viewer) & both, 0n);
    assert.equal(rules.held('doc:1', owner) & both, 0n);
    assert.equal(rules.held('doc:1', viewer | owner) & both, both);
  });

  it('as many relations as a tenant may have, of the longest names, have a text form', () => {
    const ruleSet = parseRuleSet({ relations: NAMES, rules: [] });
    assert.deepEqual(ruleSetOfSource(printRules(ruleSet)), ruleSet);
  });

  it('every name of the largest rules is followed by its own number alone', () => {
    const relations = numbered(OWN_RELATIONS_MAX, (index) => `p${index}`);
    const rules = new CompiledRules(
      parseRuleSet({ relations, rules: relations.map((relation) => rule(`can_${relation}`, relation, 'admin')) }),
    );
    const [admin, names] = [numberOf(rules, 'admin'), relations.map((relation) => `can_${relation}`)];
    assert.deepEqual(rules.namesIn(rules.held('doc:1', bitOf(admin))), ['admin', ...names]);
    for (const [index, relation] of relations.entries()) {
      assert.deepEqual(rules.wanted('doc:1', bitOf(numberOf(rules, names[index] ?? ''))).relations, [
        admin,
        numberOf(rules, relation),
      ]);
    }
  });
});

describe('printing of the largest rules', () => {
  const stepsOf = (ruleSet: RuleSet): number => [...printSteps(ruleSet)].length;

  it('takes a step for every so many characters', () => {
    const few = parseRuleSet({ rules: [rule('can_read', 'viewer')] });
    const types = NAMES.map((relation) => ({ namespace: 'doc', relation, subjects: ['user'] }));
    const many = parseRuleSet({ rules: numbered(100, (index) => rule(`n${index}`, ...numbered(90, () => 'viewer'))) });
    assert.ok(stepsOf(many) >= stepsOf(few) + 10, `${stepsOf(few)}, ${stepsOf(many)}`);
    const typed = parseRuleSet({ relations: NAMES.slice(0, 500), types: types.slice(0, 500), rules: [] });
    assert.ok(stepsOf(typed) >= stepsOf(few) + 5, `${stepsOf(typed)}`);
  });
});

describe('a comparison of the largest rules', () => {
  const [RULES, ELEMENTS] = [270, 100];
  /** Several for each of the 1,500 names of a step, and for those of the rule with which it ends. */
  const READS_PER_STEP_MAX = 15_000;

  /** Rules of which each look at an element is counted; the last name of each is `last`. */
  function countedRules(count: () => void, last: string): RuleSet {
    const element = (name: string): RuleElement => ({
      get name() {
        count();
        return name;
      },
      from: undefined,
    });
    const elements = [...numbered(ELEMENTS - 1, (index) => `r${index}`), last];
    const rules = numbered(RULES, (index) => ({ namespace: 'doc', name: `n${index}`, anyOf: elements.map(element) }));
    return { ...NO_RULES, rules };
  }

  for (const [name, stepsOf] of [
    ['their lines', diffInSteps],
    ['the names that are concerned', (from, to) => namesConcerned(from, to, new Set())],
    ['their text', (_, to) => printSteps(to)],
  ] satisfies readonly (readonly [string, (from: RuleSet, to: RuleSet) => Steps<unknown>])[]) {
    for (const [kind, last] of [
      ['others', 'other'],
      ['the same', 'last'],
      ['none', undefined],
    ] as const) {
      it(`looks at so many elements in each step: ${name}, compared with ${kind}`, () => {
        let reads = 0;
        const count = (): void => {
          reads += 1;
        };
        const to = countedRules(count, 'last');
        const from = last === undefined ? NO_RULES : countedRules(count, last);
        const readsOfSteps: number[] = [];
        for (const steps = stepsOf(from, to); steps.next().done !== true; reads = 0) readsOfSteps.push(reads);
        assert.ok(Math.max(...readsOfSteps, reads) <= READS_PER_STEP_MAX, readsOfSteps.join(' '));
        assert.ok(readsOfSteps.reduce((sum, each) => sum + each, reads) >= RULES * ELEMENTS, readsOfSteps.join(' '));
      });
    }
  }

  it('looks at each name that vanishes a few times', () => {
    let reads = 0;
    const { relations } = parseRuleSet({ relations: NAMES, rules: [] });
    const counted = new Proxy(relations, {
      get(names, key, receiver) {
        reads += 1;
        return Reflect.get(names, key, receiver);
      },
    });
    const rules = numbered(RULES_MAX, (index) => ({ namespace: 'doc', name: `n${index}`, anyOf: [] }));
    const from = { ...NO_RULES, relations: counted, rules };
    assert.equal(namesVanishing(from, NO_RULES).length, OWN_RELATIONS_MAX + RULES_MAX);
    assert.ok(reads <= 20 * OWN_RELATIONS_MAX, `${reads}`);
  });
});

describe('joins of the largest rules', () => {
  const relations = numbered(500, (index) => `relation_${index}`);
  const can = (namespace: string) =>
    relations.slice(0, 400).map((relation, index) => {
      const name = `can_${index}`;
      return { namespace, name, any_of: [relation, 'owner', `${name} from parent`] };
    });
  /** What a tenant may well have. */
  const ORDINARY = {
    'names of many own relations': {
      relations,
      rules: [...can('doc'), ...can('folder'), rule('n0', ...numbered(99, (index) => `can_${index}`))],
    },
    'a name of 500 relations, on documents and folders': {
      relations,
      rules: ['doc', 'folder'].flatMap((namespace) => [
        { namespace, name: 'n0', any_of: [...numbered(5, (index) => `part_${index}`), 'n0 from parent'] },
        ...numbered(5, (part) => ({
          namespace,
          name: `part_${part}`,
          any_of: relations.slice(100 * part, 100 * part + 100),
        })),
      ]),
    },
    'ten names on each of 100 namespaces': {
      rules: numbered(1000, (index) => ({
        namespace: index < 10 ? 'doc' : `namespace_${Math.floor(index / 10)}`,
        name: `n${index % 10}`,
        any_of: ['viewer', ...numbered(4, (at) => `n${(index + at) % 10} from parent`)],
      })),
    },
  };
  /** What nobody needs. */
  const HOSTILE = {
    'a chain of gates': {
      rules: numbered(1000, (index) =>
        rule(`n${index}`, { all_of: [index === 999 ? 'viewer' : `n${index + 1}`, 'editor'] }),
      ),
    },
    'gates that double': {
      rules: numbered(20, (index) =>
        rule(`n${index}`, { all_of: index === 19 ? ['viewer', 'editor'] : [`n${index + 1}`, `n${index + 1}`] }),
      ),
    },
    'names of thousands of elements': {
      rules: [
        ...numbered(10, (root) =>
          rule(
            `${root === 0 ? 'n' : 'root'}${root}`,
            ...(root === 0 ? numbered(9, (index) => `root${index + 1}`) : []),
            ...numbered(85, (index) => `m${root * 85 + index} from parent`),
          ),
        ),
        ...numbered(850, (index) => rule(`m${index}`, ...numbered(11, (at) => `m${(index * 11 + at + 1) % 850}`))),
      ],
    },
    'a thousand namespaces': {
      rules: numbered(1000, (index) => ({
        namespace: index === 0 ? 'doc' : `x${index}`,
        name: `n${index % 3}`,
        any_of: ['viewer', 'n0 from parent', 'n1 from owner', 'n2 from admin'],
      })),
    },
    'types of thousands of subjects': {
      relations: numbered(100, (index) => `r${index}`),
      types: numbered(100, (index) => ({
        namespace: 'doc',
        relation: `r${index}`,
        subjects: numbered(60, (at) => `a${at}`),
      })),
      rules: numbered(100, (index) => rule(`n${index}`, ...numbered(50, (at) => `n${at} from r${index}`))),
    },
  };
  /** In the grants that a search examines in the same time: what ends a step, and one set of names. */
  const SPENT_PER_STEP_MAX = 3000;

  for (const [kind, shapes] of Object.entries({ ORDINARY, HOSTILE })) {
    for (const [what, body] of Object.entries(shapes)) {
      it(`take bounded steps and bytes: ${what}`, () => {
        const ruleSet = parseRuleSet(body);
        for (const deep of [[], ['folder', 'namespace_1', 'x1']]) {
          const rules = new CompiledRules(ruleSet);
          const steps = joinSteps(ruleSet, rules, { namespace: 'doc', name: 'n0', deep }, numberOf(rules, 'n0'));
          let [spent, most] = [rules.spent, 0];
          let step = steps.next();
          for (; step.done !== true; step = steps.next()) {
            most = Math.max(most, rules.spent - spent);
            spent = rules.spent;
          }
          assert.ok(most <= SPENT_PER_STEP_MAX, `${most}`);
          const { formula, atoms, nesting } = step.value;
          assert.ok(JSON.stringify(step.value).length <= JOIN_BYTES_MAX);
          const isOpaque = atoms.a?.held === 'n0' && formula === 'a' && nesting.length === 0;
          assert.equal(isOpaque, kind === 'HOSTILE');
        }
      });
    }
  }
});

describe('parsing of the largest rules', () => {
  /** The turns that it takes, and what comes of it. */
  async function inTurns(body: unknown): Promise<{ readonly turns: number; readonly result: RuleSet | string }> {
    let turns = 0;
    const turn = async (): Promise<void> => {
      turns += 1;
    };
    const result = await parseRuleSetInTurns(body, turn, { expressions: false }).catch(
      (error: unknown) => (error as Error).message,
    );
    return { turns, result };
  }

  it('takes a turn for every so many parts', async () => {
    const few = await inTurns({ rules: [rule('can_read', 'viewer')] });
    const many = await inTurns({ rules: numbered(100, (index) => rule(`n${index}`, ...numbered(90, () => 'viewer'))) });
    assert.ok(typeof many.result !== 'string' && many.result.rules.length === 100, String(many.result));
    assert.ok(many.turns >= few.turns + 10, `${few.turns}, ${many.turns}`);
  });

  it('takes a turn for each nearest name that it looks for', async () => {
    const rules = [
      ...numbered(500, (index) => rule(`name${index}`, 'viewer')),
      ...numbered(100, (index) => rule(`other${index}`, `nane${index}`)),
    ];
    const { turns, result } = await inTurns({ rules });
    assert.match(String(result), /Did you mean "name0"\?/);
    assert.match(String(result), /And 80 more\.$/);
    assert.ok(turns >= 20, `${turns}`);
  });
});
