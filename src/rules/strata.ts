// Stratification: a name must not depend on itself through `but_not`, since its meaning would then be a paradox.

import { namesInRule, type RuleSet, type SubjectType } from './rule-set.ts';

/** A name on objects of a namespace: the index of its rule. Beyond the rules: a name on one of several entities. */
type Node = number;

interface Dependency {
  readonly on: Node;
  readonly negated: boolean;
}

/** A name that depends on itself, the first time through `but_not`. */
export interface NegativeCycle {
  /** The index of the rule of the first name. */
  readonly rule: number;
  /** `document can_read`, and so on; the first one again at the end. */
  readonly names: readonly string[];
}

/** By node. */
type Dependencies = readonly (readonly Dependency[])[];

/**
 * Behind `from` are entities of the namespaces that the types of the relation list, else of every one. Groups and
 * `ns:*` are no entities, unless the rule set has no groups and the namespace is not public.
 */
export function entitiesBehind({
  types,
  groups,
  public: namespaces,
}: RuleSet): ReadonlyMap<string, ReadonlySet<string>> {
  const isEntity = ({ of, namespace }: SubjectType): boolean =>
    of === 'single' || (of === 'group' ? !groups : !namespaces.includes(namespace));
  return new Map(
    types.map(({ namespace, relation, subjects }) => [
      `${namespace} ${relation}`,
      new Set(subjects.filter(isEntity).map((subject) => subject.namespace)),
    ]),
  );
}

/** Names that no rule defines are left out: they depend on nothing. */
function dependenciesOf(ruleSet: RuleSet): Dependencies {
  const { rules } = ruleSet;
  const behind = entitiesBehind(ruleSet);
  const defining = Map.groupBy(rules.keys(), (index) => rules[index]?.name ?? '');
  const nodes = new Map(rules.map(({ namespace, name }, index) => [`${namespace} ${name}`, index]));
  const dependencies: (readonly Dependency[])[] = rules.map(() => []);
  /** By name; and by namespace, relation and name. */
  const inherited = new Map<string, Node>();
  const plain = rules.map((_, index): Dependency => ({ on: index, negated: false }));
  /** The name on an entity of these namespaces; undefined: of any. Elements share the node, which may have many. */
  const inheritedNode = (key: string, name: string, namespaces: ReadonlySet<string> | undefined): Node => {
    const known = inherited.get(key);
    if (known !== undefined) return known;
    const isBehind = (index: number): boolean => namespaces?.has(rules[index]?.namespace ?? '') !== false;
    const on = (defining.get(name) ?? []).filter(isBehind).flatMap((index) => plain[index] ?? []);
    const node = dependencies.push(on) - 1;
    inherited.set(key, node);
    return node;
  };
  for (const [index, rule] of rules.entries()) {
    const own = rule.namespace;
    dependencies[index] = namesInRule(rule).flatMap(({ name, from, negated }) => {
      if (from === undefined) {
        const on = nodes.get(`${own} ${name}`);
        return on === undefined ? [] : { on, negated };
      }
      const namespaces = behind.get(`${own} ${from}`);
      const key = namespaces === undefined ? name : `${own} ${from} ${name}`;
      return { on: inheritedNode(key, name, namespaces), negated };
    });
  }
  return dependencies;
}

/** The strongly connected component of each node, as a number (Tarjan). */
function componentsOf(dependencies: Dependencies): readonly number[] {
  const components: number[] = [];
  const order: number[] = [];
  const lowest: number[] = [];
  const stack: Node[] = [];
  let count = 0;
  // The recursion is at most twice as deep as there are rules.
  const visit = (node: Node): number => {
    const number = count;
    count += 1;
    order[node] = number;
    stack.push(node);
    let low = number;
    for (const { on } of dependencies[node] ?? []) {
      if (components[on] !== undefined) continue;
      low = Math.min(low, order[on] === undefined ? visit(on) : (lowest[on] ?? order[on]));
    }
    lowest[node] = low;
    if (low === number) {
      for (let member = stack.pop(); member !== undefined; member = stack.pop()) {
        components[member] = number;
        if (member === node) break;
      }
    }
    return low;
  };
  for (const node of dependencies.keys()) if (order[node] === undefined) visit(node);
  return components;
}

/** The nodes on a shortest way, both ends included. */
function wayBetween(dependencies: Dependencies, from: Node, to: Node): readonly Node[] {
  const before = new Map<Node, Node | undefined>([[from, undefined]]);
  const queue = [from];
  for (const node of queue) {
    if (node === to) break;
    for (const { on } of dependencies[node] ?? []) {
      if (before.has(on)) continue;
      before.set(on, node);
      queue.push(on);
    }
  }
  const way: Node[] = [];
  for (let at: Node | undefined = to; at !== undefined; at = before.get(at)) way.push(at);
  return way.reverse();
}

/** The first rule whose name depends on itself through `but_not`, with a shortest cycle. */
export function findNegativeCycle(ruleSet: RuleSet): NegativeCycle | undefined {
  const dependencies = dependenciesOf(ruleSet);
  const components = componentsOf(dependencies);
  for (const node of ruleSet.rules.keys()) {
    const found = dependencies[node]?.find(({ on, negated }) => negated && components[on] === components[node]);
    if (found === undefined) continue;
    const rules = [node, ...wayBetween(dependencies, found.on, node)].flatMap((each) => ruleSet.rules[each] ?? []);
    return { rule: node, names: rules.map(({ namespace, name }) => `${namespace} ${name}`) };
  }
  return undefined;
}
