// What grantd and its peers are asked, what they answer, and when two answers are the same.

export interface Change {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  readonly revoke: boolean;
}

export type Question =
  | { readonly kind: 'check'; readonly subject: string; readonly relation: string; readonly object: string }
  /** The objects of the namespace on which the subject has the name. */
  | { readonly kind: 'objects'; readonly subject: string; readonly relation: string; readonly namespace: string }
  /**
   * Without `name`: the entities of the namespace that have the relation on the object, and `ns:*` if everybody has it.
   * With it: the groups `ns:id#name` that have it.
   */
  | {
      readonly kind: 'subjects';
      readonly object: string;
      readonly relation: string;
      readonly namespace: string;
      readonly name: string | undefined;
    };

/** Of a check, one item: `true` or `false`. In no order. */
export interface Items {
  readonly items: readonly string[];
}

/** The system refuses to answer, for a reason that its documentation states. */
export interface Limited {
  readonly limit: string;
}

export type Answer = Items | Limited;

export const isLimited = (answer: Answer): answer is Limited => 'limit' in answer;

export function isSame(one: Items, other: Items): boolean {
  const left = new Set(one.items);
  const right = new Set(other.items);
  return left.size === right.size && left.isSubsetOf(right);
}

export function renderQuestion(question: Question): string {
  switch (question.kind) {
    case 'check':
      return `check ${question.subject} ${question.relation} ${question.object}`;
    case 'objects':
      return `objects of ${question.subject} ${question.relation}, in ${question.namespace}`;
    case 'subjects': {
      const what = question.name === undefined ? question.namespace : `${question.namespace}:…#${question.name}`;
      return `subjects that are ${question.relation} of ${question.object}: ${what}`;
    }
  }
}

export const renderAnswer = (answer: Answer): string =>
  isLimited(answer) ? `refused: ${answer.limit}` : answer.items.toSorted().join(' ') || 'none';
