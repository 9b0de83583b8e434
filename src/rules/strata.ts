// Stratification: a name must not depend on itself through `but_not`, since its meaning would then be a paradox.

import { namesInRule, type RuleSet, type SubjectType } from './rule-set.ts';

/** A name on objects of a namespace, as `namespace name`; of every namespace, as `* name`. */
type Node = string;

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

type Dependencies = ReadonlyMap<Node, readonly Dependency[]>;

/**
 * Behind `from` are entities of the namespaces that the types of the relation list, else of every one. Groups and
 * `ns:*` are no entities, unless the rule set has no groups and the namespace is not public.
 */
function entitiesBehind({ types, groups, public: namespaces }: RuleSet): ReadonlyMap<string, ReadonlySet<string>> {
  const isEntity = ({ of, namespace }: SubjectType): boolean =>
    of === 'single' || (of === 'group' ? !groups : !namespaces.includes(namespace));
  return new Map(
    types.map(({ namespace, relation, subjects }) => [
      `${namespace} ${relation}`,
      new Set(subjects.filter(isEntity).map((subject) => subject.namespace)),
    ]),
  );
}

/** Names that no rule defines are left out: they depend on nothing. Each dependency stands there once. */
function dependenciesOf(ruleSet: RuleSet): Dependencies {
  const dependencies = new Map<Node, readonly Dependency[]>();
  const behind = entitiesBehind(ruleSet);
  const defining = Map.groupBy(ruleSet.rules, ({ name }) => name);
  const defined = new Set(ruleSet.rules.map(({ namespace, name }) => `${namespace} ${name}`));
  for (const [name, rules] of defining) {
    dependencies.set(
      `* ${name}`,
      rules.map(({ namespace }) => ({ on: `${namespace} ${name}`, negated: false })),
    );
  }
  for (const rule of ruleSet.rules) {
    const own = rule.namespace;
    const negatedByNode = new Map<Node, boolean>();
    const add = (on: Node, negated: boolean): void => {
      if (negated || !negatedByNode.has(on)) negatedByNode.set(on, negated);
    };
    const known = new Set<string>();
    for (const { name, from, negated } of namesInRule(rule)) {
      const namespaces = from === undefined ? undefined : behind.get(`${own} ${from}`);
      const here = `${own} ${name}`;
      if (from === undefined) {
        if (defined.has(here)) add(here, negated);
      } else if (namespaces === undefined) add(`* ${name}`, negated);
      else {
        const element = `${from} ${name} ${negated}`;
        if (known.has(element)) continue;
        known.add(element);
        for (const { namespace } of defining.get(name) ?? [])
          if (namespaces.has(namespace)) add(`${namespace} ${name}`, negated);
      }
    }
    dependencies.set(
      `${own} ${rule.name}`,
      Array.from(negatedByNode, ([on, negated]) => ({ on, negated })),
    );
  }
  return dependencies;
}

/** The strongly connected component of each node, as a number (Tarjan). */
function componentsOf(dependencies: Dependencies): ReadonlyMap<Node, number> {
  const components = new Map<Node, number>();
  const order = new Map<Node, number>();
  const lowest = new Map<Node, number>();
  const stack: Node[] = [];
  // The recursion is as deep as there are names with rules.
  const visit = (node: Node): number => {
    const number = order.size;
    order.set(node, number);
    stack.push(node);
    let low = number;
    for (const { on } of dependencies.get(node) ?? []) {
      if (components.has(on)) continue;
      low = Math.min(low, order.has(on) ? (lowest.get(on) ?? order.get(on) ?? 0) : visit(on));
    }
    lowest.set(node, low);
    if (low === number) {
      for (let member = stack.pop(); member !== undefined; member = stack.pop()) {
        components.set(member, number);
        if (member === node) break;
      }
    }
    return low;
  };
  for (const node of dependencies.keys()) if (!order.has(node)) visit(node);
  return components;
}

/** The nodes on a shortest way, both ends included. */
function wayBetween(dependencies: Dependencies, from: Node, to: Node): readonly Node[] {
  const before = new Map<Node, Node | undefined>([[from, undefined]]);
  const queue = [from];
  for (const node of queue) {
    if (node === to) break;
    for (const { on } of dependencies.get(node) ?? []) {
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
  for (const [index, { namespace, name }] of ruleSet.rules.entries()) {
    const node = `${namespace} ${name}`;
    const component = components.get(node);
    const found = dependencies.get(node)?.find(({ on, negated }) => negated && components.get(on) === component);
    if (found === undefined) continue;
    const names = [node, ...wayBetween(dependencies, found.on, node)].filter((each) => !each.startsWith('* '));
    return { rule: index, names };
  }
  return undefined;
}
