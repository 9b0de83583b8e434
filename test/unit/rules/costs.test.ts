// What a search asks of its graph stays within its bounds, also once a bound is reached: enumerating costs, too.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bitOf, CompiledRules } from '../../../src/rules/compiled-rules.ts';
import { GrantedSearch } from '../../../src/rules/granted-search.ts';
import type { Enumeration } from '../../../src/rules/graph.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { WantedSearch } from '../../../src/rules/wanted-search.ts';
import { GrantGraph } from './grant-graph.ts';

const LIMITS = {
  depthMax: 25,
  entitiesMax: 10_000,
  grantsMax: 1000,
  entityGrantsMax: 10_000,
  charactersMax: 1_000_000,
};
const NAMES = 100;
const WIDTH = 300;
const never = () => false;
const numbered = <Item>(count: number, of: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => of(index));

/** Counts the grants that it enumerates. */
class CountingGraph extends GrantGraph {
  enumerated = 0;

  #count(found: Enumeration): Enumeration {
    if (Array.isArray(found)) for (const { texts } of found) this.enumerated += texts.length;
    return found;
  }

  override groupsOn(object: string, relations: readonly number[]): Enumeration {
    return this.#count(super.groupsOn(object, relations));
  }

  override subjectsOn(object: string, relations: readonly number[]): Enumeration {
    return this.#count(super.subjectsOn(object, relations));
  }

  override objectsOf(subject: string, relations: readonly number[] | undefined): Enumeration {
    return this.#count(super.objectsOf(subject, relations));
  }
}

const rules = new CompiledRules(
  parseRuleSet({
    rules: numbered(NAMES, (index) => ({
      namespace: 'folder',
      name: `n${index}`,
      any_of: [`n${index} from parent`],
    })),
    groups: true,
  }),
);

test('a search from an object enumerates no grants beyond its bound', () => {
  const graph = new CountingGraph([
    ...numbered(NAMES, (index) => ({ subject: `folder:wide#n${index}`, relation: 'viewer', object: 'document:1' })),
    ...numbered(WIDTH, (index) => ({ subject: `folder:${index}`, relation: 'parent', object: 'folder:wide' })),
  ]);
  const search = new WantedSearch(rules, graph, LIMITS);
  search.start('document:1', bitOf(rules.numberOf('viewer') ?? 0));
  while (search.hasNext) search.step(never);
  assert.equal(search.cost.exceeded, 'grantsMax');
  assert.ok(!search.isComplete);
  assert.ok(graph.enumerated <= LIMITS.grantsMax + WIDTH, `${graph.enumerated}`);
});

test('a search from a subject enumerates no grants beyond its bound', () => {
  const graph = new CountingGraph([
    ...numbered(NAMES, (index) => ({ subject: 'user:a', relation: 'member', object: `team:${index}` })),
    ...numbered(NAMES, (index) =>
      numbered(WIDTH, (at) => ({ subject: `team:${index}#member`, relation: 'viewer', object: `document:${at}` })),
    ).flat(),
  ]);
  const search = new GrantedSearch(rules, graph, LIMITS, 'user:a');
  while (search.hasNext) search.step(never);
  assert.equal(search.cost.exceeded, 'grantsMax');
  assert.ok(!search.isComplete);
  assert.ok(graph.enumerated <= LIMITS.grantsMax + WIDTH, `${graph.enumerated}`);
});

test('a search visits objects and groups up to its bound of characters', () => {
  const graph = new GrantGraph(
    numbered(WIDTH, (index) => ({ subject: 'user:a', relation: 'viewer', object: `folder:${index}` })),
  );
  const search = new GrantedSearch(rules, graph, { ...LIMITS, charactersMax: 1000 }, 'user:a');
  while (search.hasNext) search.step(never);
  assert.equal(search.cost.exceeded, 'charactersMax');
  assert.equal(search.isComplete, false);
  const characters = [...search.held.keys()].join('').length;
  assert.ok(characters >= 1000 && characters < 1000 + 'folder:299'.length, `${characters}`);
});
