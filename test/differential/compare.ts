// Asks grantd and the definition of rules the same questions in the same states, and counts the answers. The first
// difference ends it.

import { caseOf } from './cases.ts';
import { type Change, type Items, isLimited, isSame, type Question } from './question.ts';
import type { System } from './system.ts';
import type { World } from './universe.ts';

/** Questions in flight at a time; nothing changes meanwhile. */
const QUESTIONS_IN_FLIGHT = 4;

/** All that leads to two different answers. */
export interface Situation {
  readonly world: World;
  /** In this order. */
  readonly changes: readonly (readonly Change[])[];
  readonly question: Question;
}

interface Answers {
  readonly own: Items;
  readonly right: Items;
}

export type Difference = Situation & Answers & { readonly case: number };

interface Tally {
  asked: number;
  /** Answers that say more than "no" or "nothing". */
  positive: number;
  /** Refusals for a limit, which are no difference. */
  refused: number;
}

const isPositive = ({ items }: Items): boolean => items.length > 0 && items[0] !== 'false';

/** Undefined if they agree, or grantd has a limit here. */
async function compareOne(
  own: System,
  definition: System,
  question: Question,
  tally: Tally,
): Promise<Answers | undefined> {
  const [mine, right] = await Promise.all([own.answer(question), definition.answer(question)]);
  tally.asked += 1;
  if (isLimited(mine) || isLimited(right)) {
    tally.refused += 1;
    return undefined;
  }
  if (isPositive(mine)) tally.positive += 1;
  return isSame(mine, right) ? undefined : { own: mine, right };
}

const emptyTally = (): Tally => ({ asked: 0, positive: 0, refused: 0 });

/** Whether a situation, brought about once more, still leads to two different answers. */
export async function differsStill(own: System, definition: System, situation: Situation): Promise<boolean> {
  const { world, changes, question } = situation;
  for (const system of [own, definition]) {
    await system.begin(world);
    for (const part of changes) await system.write(part);
  }
  return (await compareOne(own, definition, question, emptyTally())) !== undefined;
}

export interface RunOptions {
  readonly seed: number;
  /** At least. */
  readonly questions: number;
  /** Only this case of the run. */
  readonly only?: number | undefined;
  readonly onCase?: (number: number, asked: number) => void;
}

export interface RunResult extends Readonly<Tally> {
  readonly cases: number;
  readonly difference?: Difference;
}

/** One case on both systems. */
async function compareCase(
  own: System,
  definition: System,
  seed: string,
  tally: Tally,
): Promise<Omit<Difference, 'case'> | undefined> {
  const { world, steps } = caseOf(seed);
  for (const system of [own, definition]) await system.begin(world);
  const changes: (readonly Change[])[] = [];
  for (const { changes: part, questions } of steps) {
    changes.push(part);
    await Promise.all([own.write(part), definition.write(part)]);
    for (let start = 0; start < questions.length; start += QUESTIONS_IN_FLIGHT) {
      const some = questions.slice(start, start + QUESTIONS_IN_FLIGHT);
      const answers = await Promise.all(some.map((question) => compareOne(own, definition, question, tally)));
      for (const [index, question] of some.entries()) {
        const each = answers[index];
        if (each !== undefined) return { world, changes, question, ...each };
      }
    }
  }
  return undefined;
}

/** Case after case, until as many questions were asked as wanted. */
export async function compareAll(own: System, definition: System, options: RunOptions): Promise<RunResult> {
  const { seed, questions, only, onCase = () => {} } = options;
  const tally = emptyTally();
  const first = only ?? 0;
  let number = first;
  for (; tally.asked < questions && (only === undefined || number === first); number += 1) {
    const difference = await compareCase(own, definition, `${seed}/${number}`, tally);
    if (difference !== undefined)
      return { cases: number - first + 1, ...tally, difference: { ...difference, case: number } };
    onCase(number, tally.asked);
  }
  return { cases: number - first, ...tally };
}
