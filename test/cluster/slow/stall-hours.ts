// Stalls for as long as is asked: how many shards are wrongly declared dead in an hour, and how many leases run out.
// `--minutes N` (60 unless given), `--nodes N` of Cassandra (3 unless given). Goes on after a failure, and ends with
// status 1 if there was one.

import { parseArgs } from 'node:util';
import { missingCassandra } from '../../../tools/engines/cassandra.ts';
import { describeStalls, newStallCounts, stallsFor } from '../support/trials/stalls.ts';
import { lightOnNodes, TrialCluster } from '../support/trials/trial-cluster.ts';

const SPANS = { beforeMs: 2000, afterMs: 2000 };
/** The load of a trial is kept and judged as a whole. */
const ROUND_MS_MAX = 300_000;

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, nodes: { type: 'string', default: '3' } },
});
const durationMs = Number(values.minutes) * 60_000;
if (!(durationMs > 0)) throw new Error('--minutes takes a number.');
const say = (text: string): void => {
  process.stdout.write(`${new Date().toISOString()} ${text}\n`);
};

if ((await missingCassandra('stalls')) !== undefined) process.exit(1);
const total = newStallCounts();
let failures = 0;
const cluster = await TrialCluster.start({ ...lightOnNodes(Number(values.nodes)), isHeavy: true }, SPANS);
try {
  const endMs = performance.now() + durationMs;
  for (let leftMs = durationMs; leftMs > 0; leftMs = endMs - performance.now()) {
    await cluster.run(stallsFor(Math.min(leftMs, ROUND_MS_MAX), total), say).catch((error: unknown) => {
      failures += 1;
      say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    });
  }
} finally {
  say(`${failures} rounds failed; ${describeStalls(total)}`);
  await cluster.end({ keepLogs: failures > 0 || total.deaths > 0 });
}
process.exit(failures > 0 || total.deaths > 0 ? 1 : 0);
