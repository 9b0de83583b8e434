// When the answer of a system says what the definition says.

import type { Facts, Meaning } from './converted-model.ts';
import type { ModelQuestion } from './model.ts';

const sorted = (items: Iterable<string>): string => [...new Set(items)].toSorted().join(' ');

export const isUndefined = ({ items, unknown = [] }: Facts): boolean =>
  items.includes('undefined') || unknown.length > 0;

/** Whether a list names the entity, or `type:*` in it stands for the entity. */
function names(question: ModelQuestion, { items, excluded = [] }: Facts, entity: string): boolean {
  if (items.includes(entity)) return true;
  return question.kind === 'subjects' && items.includes(`${question.type}:*`) && !excluded.includes(entity);
}

/** Whether a list names all that is certain, and nothing else but what is undefined. */
export const liesWithin = (question: ModelQuestion, listed: Facts, meant: Meaning): boolean =>
  meant.items.every((each) => names(question, listed, each)) &&
  listed.items.every((each) => names(question, meant, each) || meant.unknown.includes(each));

/** Whether an answer denies a part of what is certain, and grants nothing else. */
export const isLess = (question: ModelQuestion, { items }: Facts, meant: Meaning): boolean =>
  question.kind === 'check'
    ? items[0] === 'false' && meant.items[0] === 'true'
    : items.every((each) => names(question, meant, each));

const saidOf = (question: ModelQuestion, facts: Facts, entity: string): boolean | 'undefined' =>
  facts.unknown?.includes(entity) === true ? 'undefined' : names(question, facts, entity);

const named = (answers: readonly Facts[]): readonly string[] => [
  ...new Set(answers.flatMap(({ items, unknown = [], excluded = [] }) => [...items, ...unknown, ...excluded])),
];

/** Whether an answer says of each entity, and of a check, what one of the others does. */
export const liesBetween = (question: ModelQuestion, answer: Facts, others: readonly Facts[]): boolean =>
  named([answer, ...others]).every((each) =>
    others.some((other) => saidOf(question, other, each) === saidOf(question, answer, each)),
  );

/** The entities of which two lists say different things. */
export const differing = (question: ModelQuestion, one: Facts, other: Facts): readonly string[] =>
  named([one, other]).filter((each) => saidOf(question, one, each) !== saidOf(question, other, each));

/** Whether two lists of subjects name the same ones. */
function nameTheSame(question: ModelQuestion & { readonly kind: 'subjects' }, one: Facts, other: Facts): boolean {
  const everyone = `${question.type}:*`;
  const isOpen = one.items.includes(everyone);
  if (isOpen !== other.items.includes(everyone)) return false;
  const all = [one, other].flatMap(({ items, excluded = [] }) => [...items, ...excluded]);
  // Who cannot say who is excluded may only name those that the other stands for.
  if (isOpen && one.excluded === undefined) return one.items.every((each) => names(question, other, each));
  if (isOpen && other.excluded === undefined) return other.items.every((each) => names(question, one, each));
  return all.every((each) => names(question, one, each) === names(question, other, each));
}

export function agrees(question: ModelQuestion, { unknown = [], ...known }: Facts, meant: Meaning): boolean {
  // SpiceDB names some as undefined that are certain by another tuple, of theirs or to everyone.
  const answer = { ...known, unknown: unknown.filter((each) => !names(question, known, each)) };
  if (isUndefined(answer) !== isUndefined(meant)) return false;
  if (answer.items.includes('undefined')) return true;
  if (question.kind !== 'subjects')
    return sorted(answer.items) === sorted(meant.items) && sorted(answer.unknown) === sorted(meant.unknown);
  return isUndefined(meant) ? liesWithin(question, answer, meant) : nameTheSame(question, answer, meant);
}
