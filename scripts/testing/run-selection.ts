// Runs the steps and test files of a selection, side by side as the machine allows, and reports them.

import { availableParallelism, cpus } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { keepSharedCassandra } from '../../tools/engines/shared-cassandra.ts';
import { batchesOf, type Durations } from './batches.ts';
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

const SAMPLE_MS = 2000;

function spentMs(): { readonly busy: number; readonly all: number } {
  let [busy, all] = [0, 0];
  for (const { times } of cpus()) {
    const sum = times.user + times.nice + times.sys + times.irq;
    busy += sum;
    all += sum + times.idle;
  }
  return { busy, all };
}

/**
 * How many processors the machine keeps busy: while the run itself is idle, the load of other programs. Takes two
 * seconds.
 */
async function busyProcessors(): Promise<number> {
  const before = spentMs();
  await setTimeout(SAMPLE_MS);
  const after = spentMs();
  return (cpus().length * (after.busy - before.busy)) / (after.all - before.all);
}

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
