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

const NO_TOTALS: Totals = { runs: 0, failedSeeds: [], operations: 0, answered: 0, events: 0, virtualMs: 0 };

export function totalsOf(results: readonly RunResult[]): Totals {
  return sumOf(
    results.map(({ seed, failures, operations, answered, events, virtualMs }) => {
      return { runs: 1, failedSeeds: failures.length > 0 ? [seed] : [], operations, answered, events, virtualMs };
    }),
  );
}

export function sumOf(totals: readonly Totals[]): Totals {
  return totals.reduce(
    (sum, each) => ({
      runs: sum.runs + each.runs,
      failedSeeds: each.failedSeeds.length === 0 ? sum.failedSeeds : [...sum.failedSeeds, ...each.failedSeeds],
      operations: sum.operations + each.operations,
      answered: sum.answered + each.answered,
      events: sum.events + each.events,
      virtualMs: sum.virtualMs + each.virtualMs,
    }),
    NO_TOTALS,
  );
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
export function renderProgress(
  totals: Totals,
  count: number,
  { runs, elapsedMs }: { runs: number; elapsedMs: number },
) {
  const perMs = runs / Math.max(elapsedMs, 1);
  const left = perMs === 0 ? '' : `, ${Math.ceil((count - totals.runs) / perMs / 60_000)} min left`;
  const { runs: done, failedSeeds } = totals;
  const more = failedSeeds.length > FAILED_SEEDS_SHOWN_MAX ? ', …' : '';
  const named = failedSeeds.length === 0 ? '' : ` (${inOrder(failedSeeds.slice(0, FAILED_SEEDS_SHOWN_MAX))}${more})`;
  return `${done} of ${count} seeds, ${failedSeeds.length} failed${named}, ${(perMs * 1000).toFixed(1)} a second${left}`;
}

export const renderReached = (reached: Reached): string =>
  `Reached: ${Object.entries(reached)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')}`;
