// Measures two services in turns, so that other load on the machine affects both: a round is one of each.

import type { LoadJob, LoadResult } from '../load/load-job.ts';
import type { BenchContext } from '../scenario.ts';
import { readCpuSeconds } from '../server/resource-use.ts';

export interface Round extends LoadResult {
  readonly cpuMicros: number;
}

export interface Side {
  readonly name: string;
  /** CPU time is their sum. */
  readonly pids: readonly number[];
  readonly job: Omit<LoadJob, 'mode'>;
}

const sumCpuSeconds = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + readCpuSeconds(pid), 0);

export async function measureSide(context: BenchContext, { pids, job }: Side, mode: LoadJob['mode']): Promise<Round> {
  const before = sumCpuSeconds(pids);
  const result = await context.client.run({ ...job, mode });
  return { ...result, cpuMicros: ((sumCpuSeconds(pids) - before) * 1e6) / result.answered };
}

export async function measureInTurns(
  context: BenchContext,
  sides: readonly [Side, Side],
  mode: LoadJob['mode'],
  rounds: number,
): Promise<readonly (readonly [Round, Round])[]> {
  const measured: (readonly [Round, Round])[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    context.progress(`${mode.kind}, round ${round} of ${rounds}`);
    measured.push([await measureSide(context, sides[0], mode), await measureSide(context, sides[1], mode)]);
  }
  return measured;
}
