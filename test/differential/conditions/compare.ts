// Asks grantd and cel-go the same random questions about conditions. Invariant: a value is only ever equal to the same
// value. Where a parameter is missing, an error and the missing parameter are alike: neither decides.

import fc from 'fast-check';
import type { CelGo, ConditionAnswer } from './answers.ts';
import { DIFFERENCES, type DocumentedDifference } from './differences.ts';
import { type ConditionQuestion, conditionQuestion } from './questions.ts';

export interface ConditionRun {
  /** How many questions had which outcome. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** The smallest question with another answer than cel-go's. */
  readonly smallest: ConditionQuestion | undefined;
  readonly difference: string | undefined;
}

interface Options {
  readonly seed: number;
  readonly questions: number;
  readonly documented?: readonly DocumentedDifference[];
}

type Own = (question: ConditionQuestion) => ConditionAnswer | undefined;

const OPEN: ReadonlySet<string> = new Set(['missing', 'failed']);

/** The same, a documented difference, or what one of them does not compile; undefined: a difference. */
function outcomeOf(
  question: ConditionQuestion,
  own: ConditionAnswer | undefined,
  theirs: ConditionAnswer,
  documented: readonly DocumentedDifference[],
): string | undefined {
  if (own === undefined) return 'too large for grantd';
  if (own.kind === 'refused') return 'refused by grantd';
  if (theirs.kind === 'refused') return 'refused by cel-go alone';
  if (own.kind === 'value' && theirs.kind === 'value' && JSON.stringify(own.value) === JSON.stringify(theirs.value)) {
    return 'same value';
  }
  if (own.kind !== 'value' && own.kind === theirs.kind) return `both ${own.kind}`;
  const isPartial = Object.keys(question.context).length < Object.keys(question.parameters).length;
  if (isPartial && OPEN.has(own.kind) && OPEN.has(theirs.kind)) return 'both undecided';
  return documented.find(({ explains }) => explains?.({ question, own }) === true)?.expression;
}

function renderDifference(
  question: ConditionQuestion,
  own: ConditionAnswer | undefined,
  theirs: ConditionAnswer,
): string {
  const { expression, context } = question;
  const used = Object.entries(context).filter(([name]) => new RegExp(`\\b${name}\\b`).test(expression));
  return [
    `expression: ${expression}`,
    `context: ${JSON.stringify(Object.fromEntries(used))}`,
    `grantd: ${JSON.stringify(own)}`,
    `cel-go: ${JSON.stringify(theirs)}`,
  ].join('\n');
}

export async function compareConditions(
  own: Own,
  celGo: CelGo,
  { seed, questions, documented = DIFFERENCES }: Options,
): Promise<ConditionRun> {
  const outcomes = new Map<string, number>();
  let isShrinking = false;
  const property = fc.asyncProperty(conditionQuestion, async (question) => {
    const outcome = outcomeOf(question, own(question), await celGo.answer(question), documented);
    if (outcome === undefined) isShrinking = true;
    else if (!isShrinking) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    return outcome !== undefined;
  });
  const { counterexample } = await fc.check(property, { seed, numRuns: questions });
  const smallest = counterexample?.[0];
  const difference = smallest && renderDifference(smallest, own(smallest), await celGo.answer(smallest));
  return { outcomes, smallest, difference };
}

export const renderConditionRun = ({ outcomes }: ConditionRun): string =>
  [...outcomes]
    .toSorted(([, left], [, right]) => right - left)
    .map(([outcome, count]) => `${String(count).padStart(9)}  ${outcome}`)
    .join('\n');
