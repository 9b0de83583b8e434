// Whether each name of a model can come about at all: OpenFGA refuses a model in which one cannot, as one that needs
// itself.

import { type Expression, type Model, relationOf, type Type } from './model.ts';

const keyOf = (type: string, name: string): string => `${type} ${name}`;

/** Whether the expression can come about if these names can. What it excludes must, too. */
function comesAbout(
  expression: Expression,
  isStored: () => boolean,
  isPossible: (leaf: Extract<Expression, { readonly kind: 'name' | 'from' }>) => boolean,
): boolean {
  const follows = (part: Expression): boolean => comesAbout(part, isStored, isPossible);
  switch (expression.kind) {
    case 'stored':
      return isStored();
    case 'name':
    case 'from':
      return isPossible(expression);
    case 'union':
      return expression.parts.some(follows);
    case 'intersection':
      return expression.parts.every(follows);
    case 'exclusion':
      return follows(expression.base) && follows(expression.subtract);
  }
}

export function hasEntryPoints(model: Model): boolean {
  const possible = new Set<string>();
  const isPossible = (type: Type, name: string): boolean => possible.has(keyOf(type.name, name));
  const names = model.types.flatMap((type) => type.relations.map((relation) => ({ type, relation })));
  for (let size = -1; size < possible.size; ) {
    size = possible.size;
    for (const { type, relation } of names) {
      const { name, subjects, expression } = relation;
      const isStored = (): boolean =>
        subjects.some((each) => each.of !== 'group' || possible.has(keyOf(each.type, each.name ?? '')));
      const follows = comesAbout(expression, isStored, (leaf) =>
        leaf.kind === 'name'
          ? isPossible(type, leaf.name)
          : (relationOf(model, type.name, leaf.from)?.subjects ?? []).some((each) =>
              possible.has(keyOf(each.type, leaf.name)),
            ),
      );
      if (follows) possible.add(keyOf(type.name, name));
    }
  }
  return possible.size === names.length;
}
