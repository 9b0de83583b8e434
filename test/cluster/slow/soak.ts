// The soak: every fault again and again, in an order of its own each round, under a load that runs longer before and
// after. `--minutes N` (60 unless given), `--only TEXT` (of a fault's name), `--seed S` (of the order and the moments),
// `--light` (a load that two processors bear beside three nodes of Cassandra). Ends with status 1 at the first wrong
// answer, and keeps the logs.

import { parseArgs } from 'node:util';
import { missingCassandra } from '../../../tools/engines/cassandra.ts';
import { NODE_FAULTS, OTHER_FAULTS } from '../support/trials/other-faults.ts';
import { overlappingFaults } from '../support/trials/overlapping-faults.ts';
import { MANY_SLOTS_FAULTS, SHARD_FAULTS, SLOW_SHARD_FAULTS } from '../support/trials/shard-faults.ts';
import { stalls } from '../support/trials/stalls.ts';
import { FULL, LIGHT_ON_NODES, TrialCluster } from '../support/trials/trial-cluster.ts';

/** Overlapping faults come at other moments each time. */
const FAULT_SHIFT_MS = 2000;

const SPANS = { beforeMs: 10_000, afterMs: 10_000 };

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    light: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
  },
});
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

let state = Number(values.seed);
function random(below: number): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

const faults = [
  ...SHARD_FAULTS,
  ...SLOW_SHARD_FAULTS,
  ...MANY_SLOTS_FAULTS,
  ...OTHER_FAULTS,
  ...NODE_FAULTS,
  overlappingFaults(() => random(2 * FAULT_SHIFT_MS) - FAULT_SHIFT_MS),
  stalls,
];
const trials = faults.filter(({ name }) => name.includes(values.only));
if (trials.length === 0) throw new Error(`No fault has ${values.only} in its name.`);
const durationMs = Number(values.minutes) * 60_000;
if (!(durationMs > 0)) throw new Error('--minutes takes a number.');

if ((await missingCassandra('the soak')) !== undefined) process.exit(1);
let failed = true;
const cluster = await TrialCluster.start(values.light ? LIGHT_ON_NODES : FULL, SPANS);
try {
  const endMs = performance.now() + durationMs;
  let count = 0;
  while (performance.now() < endMs) {
    const round = [...trials];
    while (round.length > 0 && performance.now() < endMs) {
      const [trial] = round.splice(random(round.length), 1);
      if (trial === undefined) break;
      count += 1;
      say(`\n${new Date().toISOString()} ${count}. ${trial.name}`);
      await cluster.run(trial, say);
    }
  }
  say(`\n${count} faults survived.`);
  failed = false;
} catch (error) {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  say(`The logs: ${cluster.logDirectory}`);
} finally {
  await cluster.end({ keepLogs: failed });
}
process.exit(failed ? 1 : 0);
