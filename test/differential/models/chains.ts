// What a question leads to over names and tuples, which decides whether a peer may refuse it.

import { type Expression, type Model, relationOf, type Tuple, typeOf } from './model.ts';

export interface Fact {
  readonly name: string;
  readonly object: string;
}

export const textOfFact = ({ name, object }: Fact): string => `${name} ${object}`;

type Read = Fact & { readonly isExcluded: boolean };

/** What the expression reads of other facts. */
function* readIn(
  expression: Expression,
  object: string,
  tuples: readonly Tuple[],
  isExcluded = false,
): Generator<Read> {
  switch (expression.kind) {
    case 'stored':
      return;
    case 'name':
      yield { name: expression.name, object, isExcluded };
      return;
    case 'from':
      yield { name: expression.from, object, isExcluded };
      for (const each of tuples)
        if (each.object === object && each.relation === expression.from)
          yield { name: expression.name, object: each.subject, isExcluded };
      return;
    case 'union':
    case 'intersection':
      for (const part of expression.parts) yield* readIn(part, object, tuples, isExcluded);
      return;
    case 'exclusion':
      yield* readIn(expression.base, object, tuples, isExcluded);
      yield* readIn(expression.subtract, object, tuples, true);
  }
}

function* readBy(model: Model, tuples: readonly Tuple[], { name, object }: Fact): Generator<Read> {
  const relation = relationOf(model, typeOf(object), name);
  if (relation === undefined) return;
  for (const tuple of tuples) {
    const [entity = '', group] = tuple.subject.split('#');
    if (group !== undefined && tuple.object === object && tuple.relation === name)
      yield { name: group, object: entity, isExcluded: false };
  }
  yield* readIn(relation.expression, object, tuples);
}

export interface Chains {
  /** Facts of the longest one, with the first: infinite if they run in a circle. */
  readonly longest: number;
  /** The texts of all facts. */
  readonly facts: ReadonlySet<string>;
  /** Whether what a `but not` excludes leads to facts in a circle. */
  readonly excludesCircle: boolean;
}

/** All chains that begin with the fact. */
export function chainsFrom(model: Model, tuples: readonly Tuple[], fact: Fact): Chains {
  const lengths = new Map<string, number>();
  let excludesCircle = false;
  const follow = (at: Fact): number => {
    const key = textOfFact(at);
    const known = lengths.get(key);
    if (known !== undefined) return known;
    // Whoever comes by here again before it is known has gone in a circle.
    lengths.set(key, Number.POSITIVE_INFINITY);
    let longest = 0;
    for (const each of readBy(model, tuples, at)) {
      const length = follow(each);
      if (each.isExcluded && length === Number.POSITIVE_INFINITY) excludesCircle = true;
      longest = Math.max(longest, length);
    }
    lengths.set(key, 1 + longest);
    return 1 + longest;
  };
  return { longest: follow(fact), facts: new Set(lengths.keys()), excludesCircle };
}
