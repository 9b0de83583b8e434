// How many processors the machine keeps busy. Measured while the run itself is idle, it is the load of other programs.

import { cpus } from 'node:os';
import { setTimeout } from 'node:timers/promises';

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

/** Takes two seconds. From 0 to the number of processors. */
export async function busyProcessors(): Promise<number> {
  const before = spentMs();
  await setTimeout(SAMPLE_MS);
  const after = spentMs();
  return (cpus().length * (after.busy - before.busy)) / (after.all - before.all);
}
