// Results of runs as text for a person.

import type { RunResult } from './simulation-run.ts';

/** What is wrong with a run, and how to see it happen. */
export function renderFailure({ seed, focus, failures }: RunResult, mutation?: string): string {
  const options = [`--seed ${seed}`];
  if (focus !== 'broad') options.push(`--focus ${focus}`);
  if (mutation !== undefined) options.push(`--mutation ${mutation}`);
  return [`Seed ${seed} fails. Replay: npm run simulate -- ${options.join(' ')}`, ...failures].join('\n');
}

export function renderSummary(results: readonly RunResult[], elapsedMs: number): string {
  const sum = (of: (result: RunResult) => number): number => results.reduce((total, result) => total + of(result), 0);
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const seconds = elapsedMs === 0 ? '' : ` in ${(elapsedMs / 1000).toFixed(1)} s`;
  return (
    `${results.length} runs${seconds}, ${failed} failed: ${sum(({ operations }) => operations)} operations, ` +
    `${sum(({ answered }) => answered)} of them answered, ${sum(({ events }) => events)} events, ` +
    `${Math.round(sum(({ virtualMs }) => virtualMs) / 1000)} s of virtual time, ` +
    `${sum(({ undecided }) => undecided)} groups of bulk checks undecided`
  );
}
