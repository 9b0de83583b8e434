// Runs the steps and test files of a selection, side by side as the machine allows, and reports them.

import { availableParallelism } from 'node:os';
import { keepSharedCassandra } from '../../tools/engines/shared-cassandra.ts';
import { batchesOf } from './batches.ts';
import { busyProcessors } from './busy-processors.ts';
import type { Durations } from './durations.ts';
import type { Report } from './report.ts';
import { runBatch, runOwn, Workplace } from './run-files.ts';
import { type Job, runJobs } from './schedule.ts';
import type { Selection } from './selection.ts';
import { installsFor, installWeight, neededFor, runStep, type Step } from './steps.ts';
import { processorMs } from './usage.ts';

/** Processors that the linter or the type checker keeps busy. */
const CHECK_WEIGHT = 1;
/** Capacity for each processor: every process waits now and then, and what is measured beside others is too low. */
const OVERCOMMIT = 1.25;

const stepJob = (step: Step, report: Report): Job => ({
  name: step.name,
  weight: step.neededBy === undefined ? CHECK_WEIGHT : installWeight(availableParallelism()),
  run: async () => {
    const startMs = performance.now();
    const output: string[] = [];
    // An install shows its progress; a check shows its findings at the end.
    const say = step.neededBy === undefined ? (line: string) => void output.push(line) : report.progress;
    const isGood = await runStep(step, say);
    report.step(step.name, { ms: performance.now() - startMs, isGood, output });
  },
});

export interface SelectionOptions {
  readonly durations: Durations;
  readonly report: Report;
  readonly signal: AbortSignal;
  /** Wraps the run of each job. */
  around(name: string, run: () => Promise<void>): Promise<void>;
}

/** Resolves to whether everything passed. */
export async function runSelection(
  { steps, files }: Selection,
  { durations, report, signal, around }: SelectionOptions,
): Promise<boolean> {
  const startMs = performance.now();
  const workplace = new Workplace();
  const cassandra = await keepSharedCassandra();
  const options = { report, workplace, signal };
  const processors = availableParallelism();
  const installs = installsFor(files);
  const batches = batchesOf(files, durations, processors).map((batch): Job => {
    const [{ path } = { path: '' }] = batch.files;
    return {
      name: batch.isShared ? `${batch.files.length} files from ${path}` : path,
      weight: batch.weight,
      exclusive: batch.isExclusive,
      after: neededFor(installs, batch.files),
      run: () => runBatch(batch, options),
    };
  });
  try {
    const jobs = [...[...installs, ...steps].map((step) => stepJob(step, report)), ...batches];
    await runJobs(
      jobs.map((job) => ({ ...job, run: () => around(job.name, () => job.run()) })),
      OVERCOMMIT * processors,
      signal,
    );
    const othersBusy = report.hasInconclusive ? await busyProcessors() : 0;
    for (const [path, names] of report.takeInconclusive(othersBusy)) {
      const file = files.find((each) => each.path === path);
      if (file !== undefined && !signal.aborted) await runOwn(file, options, names);
    }
  } finally {
    const otherMs = processorMs();
    await cassandra.stop();
    if (cassandra.started) report.engineUsed('shared Cassandra', processorMs() - otherMs);
    workplace.remove();
  }
  if (signal.aborted) report.failed('the run was interrupted');
  return report.end({ ms: performance.now() - startMs, cpuMs: processorMs() });
}
