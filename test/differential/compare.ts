// Asks grantd and its peers the same questions in the same states, and counts what they answer. The first difference
// ends it.

import { type Case, caseOf } from './cases.ts';
import type { Peer } from './peers/peer.ts';
import { type Change, type Items, isLimited, isSame, type Question } from './question.ts';
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

export interface Difference extends Situation {
  readonly peer: Peer;
  readonly own: Items;
  readonly theirs: Items;
}

export interface Tally {
  asked: number;
  /** Answers that say more than "no" or "nothing". */
  positive: number;
  /** Questions that the peer does not have. */
  unasked: number;
  /** By who refused, and why: `spicedb: depth`. */
  readonly limits: Map<string, number>;
}

export const emptyTally = (): Tally => ({ asked: 0, positive: 0, unasked: 0, limits: new Map() });

const isPositive = ({ items }: Items): boolean => items.length > 0 && items[0] !== 'false';

/** Undefined if they agree, or one of them has a limit here. */
async function compareOne(own: Peer, peer: Peer, question: Question, tally: Tally) {
  const [mine, theirs] = await Promise.all([own.answer(question), peer.answer(question)]);
  if (mine === undefined || theirs === undefined) {
    tally.unasked += 1;
    return undefined;
  }
  tally.asked += 1;
  for (const [{ name }, answer] of [
    [own, mine],
    [peer, theirs],
  ] as const) {
    if (!isLimited(answer)) continue;
    const reason = `${name}: ${answer.limit}`;
    tally.limits.set(reason, (tally.limits.get(reason) ?? 0) + 1);
  }
  if (isLimited(mine) || isLimited(theirs)) return undefined;
  if (isPositive(mine)) tally.positive += 1;
  return isSame(mine, theirs) ? undefined : { own: mine, theirs };
}

/** Whether a situation, brought about once more, still leads to two different answers. */
export async function differsStill(own: Peer, peer: Peer, { world, changes, question }: Situation): Promise<boolean> {
  for (const system of [own, peer]) {
    await system.begin(world);
    for (const part of changes) await system.write(part);
  }
  return (await compareOne(own, peer, question, emptyTally())) !== undefined;
}

async function compareQuestions(
  own: Peer,
  peer: Peer,
  questions: readonly Question[],
  tally: Tally,
): Promise<Pick<Difference, 'question' | 'own' | 'theirs'> | undefined> {
  for (let start = 0; start < questions.length; start += QUESTIONS_IN_FLIGHT) {
    const some = questions.slice(start, start + QUESTIONS_IN_FLIGHT);
    const found = await Promise.all(
      some.map(async (question) => {
        const difference = await compareOne(own, peer, question, tally);
        return difference === undefined ? undefined : { question, ...difference };
      }),
    );
    const first = found.find((each) => each !== undefined);
    if (first !== undefined) return first;
  }
  return undefined;
}

/** One case on all systems. `tallies`: by the name of the peer. */
export async function compareCase(
  own: Peer,
  all: readonly Peer[],
  { profile, world, steps }: Case,
  tallies: ReadonlyMap<string, Tally>,
): Promise<Difference | undefined> {
  const peers = all.filter(({ standsTangles }) => standsTangles || profile !== 'tangled');
  const systems = [own, ...peers];
  for (const system of systems) await system.begin(world);
  const changes: (readonly Change[])[] = [];
  for (const step of steps) {
    changes.push(step.changes);
    await Promise.all(systems.map((system) => system.write(step.changes)));
    for (const peer of peers) {
      const difference = await compareQuestions(own, peer, step.questions, tallies.get(peer.name) ?? emptyTally());
      if (difference !== undefined) return { world, changes, peer, ...difference };
    }
  }
  return undefined;
}

export interface RunOptions {
  readonly seed: number;
  /** Of each peer, at least. */
  readonly questions: number;
  /** Only this case of the run. */
  readonly only?: number | undefined;
  readonly onCase: (number: number, asked: number) => void;
}

export interface RunResult {
  readonly cases: number;
  readonly tallies: ReadonlyMap<string, Tally>;
  readonly difference?: Difference & { readonly case: number };
}

/** Case after case, until every peer was asked as many questions as wanted. */
export async function compareAll(own: Peer, peers: readonly Peer[], options: RunOptions): Promise<RunResult> {
  const tallies = new Map(peers.map(({ name }) => [name, emptyTally()]));
  const asked = (): number => Math.min(...[...tallies.values()].map((tally) => tally.asked));
  const first = options.only ?? 0;
  let number = first;
  for (; asked() < options.questions && (options.only === undefined || number === first); number += 1) {
    const difference = await compareCase(own, peers, caseOf(`${options.seed}/${number}`), tallies);
    if (difference !== undefined) {
      return { cases: number - first + 1, tallies, difference: { ...difference, case: number } };
    }
    options.onCase(number, asked());
  }
  return { cases: number - first, tallies };
}
