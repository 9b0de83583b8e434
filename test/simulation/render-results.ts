// Results of runs as text for a person.

import type { Reached } from './probes.ts';
import type { RunResult } from './simulation-run.ts';

/** Of many runs. */
export interface Totals {
  readonly runs: number;
  readonly failedSeeds: readonly number[];
  readonly operations: number;
  readonly answered: number;
  readonly events: number;
  readonly virtualMs: number;
}

/** In a line of progress. The end names all. */
const FAILED_SEEDS_SHOWN_MAX = 20;

export function totalsOf(results: readonly RunResult[]): Totals {
  const sumOf = (countOf: (result: RunResult) => number): number =>
    results.reduce((sum, result) => sum + countOf(result), 0);
  return {
    runs: results.length,
    failedSeeds: results.filter(({ failures }) => failures.length > 0).map(({ seed }) => seed),
    operations: sumOf(({ operations }) => operations),
    answered: sumOf(({ answered }) => answered),
    events: sumOf(({ events }) => events),
    virtualMs: sumOf(({ virtualMs }) => virtualMs),
  };
}

/** What is wrong with a run, and how to see it happen. */
export function renderFailure({ seed, focus, failures }: RunResult, mutation?: string): string {
  const options = [`--seed ${seed}`];
  if (focus !== 'broad') options.push(`--focus ${focus}`);
  if (mutation !== undefined) options.push(`--mutation ${mutation}`);
  return [`Seed ${seed} fails. Replay: npm run simulate -- ${options.join(' ')}`, ...failures].join('\n');
}

export function renderSummary(totals: Totals, elapsedMs: number): string {
  const { runs, failedSeeds, operations, answered, events, virtualMs } = totals;
  const seconds = elapsedMs === 0 ? '' : ` in ${(elapsedMs / 1000).toFixed(1)} s`;
  const counts =
    `${runs} runs${seconds}, ${failedSeeds.length} failed: ${operations} operations, ${answered} of them answered, ` +
    `${events} events, ${Math.round(virtualMs / 1000)} s of virtual time`;
  return failedSeeds.length === 0 ? counts : `${counts}\nSeeds that failed: ${inOrder(failedSeeds)}`;
}

const inOrder = (seeds: readonly number[]): string => seeds.toSorted((left, right) => left - right).join(', ');

/** How far a long run has come. */
export function renderProgress({ runs, failedSeeds }: Totals, count: number, elapsedMs: number): string {
  const perMs = runs / Math.max(elapsedMs, 1);
  const left = perMs === 0 ? '' : `, ${Math.ceil((count - runs) / perMs / 60_000)} min left`;
  const more = failedSeeds.length > FAILED_SEEDS_SHOWN_MAX ? ', …' : '';
  const named = failedSeeds.length === 0 ? '' : ` (${inOrder(failedSeeds.slice(0, FAILED_SEEDS_SHOWN_MAX))}${more})`;
  return `${runs} of ${count} seeds, ${failedSeeds.length} failed${named}, ${(perMs * 1000).toFixed(1)} a second${left}`;
}

export const renderReached = (reached: Reached): string =>
  `Reached: ${Object.entries(reached)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')}`;
