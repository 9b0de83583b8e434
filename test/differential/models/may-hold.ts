// What a subject may hold: what tuples lead to where every `and` is taken for an `or`, every condition for true, and
// nothing is excluded. Questions about it find a yes often, and a no for a reason.

import { type Fact, textOfFact } from './chains.ts';
import { type Expression, entityOf, type Model, type Tuple, typeOf } from './model.ts';

type Leaf = Extract<Expression, { readonly kind: 'name' | 'from' }>;

function* leavesOf(expression: Expression): Generator<Leaf> {
  switch (expression.kind) {
    case 'stored':
      return;
    case 'name':
    case 'from':
      yield expression;
      return;
    case 'union':
    case 'intersection':
      for (const part of expression.parts) yield* leavesOf(part);
      return;
    case 'exclusion':
      yield* leavesOf(expression.base);
  }
}

/** In no order that means anything, but in the same one each time. */
export function mayHold({ types }: Model, tuples: readonly Tuple[], subject: string): readonly Fact[] {
  const facts = new Map<string, Fact>();
  const add = (fact: Fact): void => void facts.set(textOfFact(fact), fact);
  const isHeld = (name: string, object: string): boolean => facts.has(textOfFact({ name, object }));
  const isGroup = subject.includes('#');
  const isTo = (text: string): boolean => {
    if (text === subject || (!isGroup && text === `${typeOf(subject)}:*`)) return true;
    const [object = '', name] = text.split('#');
    return name !== undefined && isHeld(name, object);
  };
  if (isGroup) add({ name: subject.split('#')[1] ?? '', object: entityOf(subject) });
  const objects = new Set(tuples.map(({ object }) => object));
  for (let size = -1; size < facts.size; ) {
    size = facts.size;
    for (const { subject: text, relation, object } of tuples) if (isTo(text)) add({ name: relation, object });
    for (const object of objects) {
      const isLed = (leaf: Leaf): boolean =>
        leaf.kind === 'name'
          ? isHeld(leaf.name, object)
          : tuples.some(
              (each) => each.object === object && each.relation === leaf.from && isHeld(leaf.name, each.subject),
            );
      for (const { name, expression } of types.find((each) => each.name === typeOf(object))?.relations ?? [])
        if ([...leavesOf(expression)].some(isLed)) add({ name, object });
    }
  }
  return [...facts.values()];
}
