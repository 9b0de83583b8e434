// Judging what only holds where a process runs when it wants to, such as how much gets through in a second: on a busy
// machine it is measured again. A defect fails on a quiet machine at once, and on a busy one in every round.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Strain } from '../../kit/strain.ts';

const ROUNDS_MAX = 5;
/** What a machine with processors to spare stays below. */
const STRAIN_MAX = 1.3;
const STALL_MS_MAX = 50;

/** Passes with the first measurement that `judge` takes, and throws what it says of one that nothing else held up. */
export async function judgeUndisturbed<Value>(
  measure: () => Promise<Value>,
  judge: (value: Value) => void,
): Promise<void> {
  const strain = new Strain();
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  try {
    for (let round = 1; ; round += 1) {
      strain.take();
      delays.reset();
      const value = await measure();
      const disturbed = strain.take() > STRAIN_MAX || delays.max / 1e6 > STALL_MS_MAX;
      try {
        judge(value);
        return;
      } catch (error) {
        if (!disturbed || round === ROUNDS_MAX) throw error;
      }
    }
  } finally {
    strain.stop();
    delays.disable();
  }
}
