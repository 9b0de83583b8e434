// grantd as a cluster is run: a front, a shard and a console as processes of their own, over one node of Cassandra, which
// is part of the system and counted with it.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { startCassandra } from '../../../test/support/cassandra.ts';
import { delay, findFreePort, PLAN_NAME } from '../../server/grantd-process.ts';
import { readMetric } from '../../server/metrics-text.ts';
import { createTenant } from '../../server/operator.ts';
import { answersOk, BackgroundProcess } from './background-process.ts';
import { CHECKS_PER_BULK, IMPORTS_UNDER_WAY, LINES_PER_IMPORT } from './grantd-embedded.ts';
import type { System, SystemContext } from './system.ts';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts');
const OPERATOR_TOKEN = 'the-operator-token-of-the-comparison';
const PLANS = JSON.stringify({ [PLAN_NAME]: { requests: 10_000_000, window_seconds: 1 } });
const START_SECONDS_MAX = 90;
const LAG_SECONDS_MAX = 600;
const LAG_POLL_MS = 500;

/** Processes whose command line has that word and whose parent is this process: Cassandra is in the hands of a script. */
function findChildren(word: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const parent = /^PPid:\s+(?<pid>\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.groups?.pid;
        return Number(parent) === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word);
      } catch {
        // It has ended meanwhile.
        return false;
      }
    })
    .map(Number);
}

export async function startGrantdCluster(context: SystemContext): Promise<System> {
  const directory = context.createDirectory();
  const cassandra = await startCassandra({ nodes: 1 });
  const running: BackgroundProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const each of running.toReversed()) await each.stop();
    await cassandra.stop();
  };
  const start = (role: string, settings: Readonly<Record<string, string>>): BackgroundProcess => {
    const started = new BackgroundProcess({
      name: `grantd ${role}`,
      command: [process.execPath, MAIN, role],
      environment: settings,
      logFile: join(directory, `${role}.log`),
    });
    running.push(started);
    return started;
  };
  try {
    const [rpc, http, console, shardOps, frontOps, consoleOps] = await Promise.all(
      Array.from({ length: 6 }, async () => `127.0.0.1:${await findFreePort()}`),
    );
    const store = {
      GRANTD_STORE: 'cassandra',
      GRANTD_CASSANDRA_CONTACT_POINTS: cassandra.contactPoints.join(','),
      GRANTD_CASSANDRA_LOCAL_DATACENTER: cassandra.localDatacenter,
    };
    await start('migrate', { ...store, GRANTD_CASSANDRA_REPLICATION_FACTOR: '1' }).waitForEnd();
    const shard = start('shard', {
      ...store,
      GRANTD_SHARD_NAME: 'shard-1',
      GRANTD_RPC_ADDRESS: rpc ?? '',
      GRANTD_OPS_ADDRESS: shardOps ?? '',
      GRANTD_PLANS: PLANS,
    });
    const seen = { GRANTD_DISCOVERY: `static:${rpc}`, GRANTD_BASE_URL: `http://${http}`, GRANTD_PLANS: PLANS };
    const front = start('front', {
      ...seen,
      GRANTD_HTTP_ADDRESS: http ?? '',
      GRANTD_OPS_ADDRESS: frontOps ?? '',
      GRANTD_DRAIN_SECONDS: '0',
    });
    const operator = start('console', {
      ...seen,
      GRANTD_CONSOLE_ADDRESS: console ?? '',
      GRANTD_OPS_ADDRESS: consoleOps ?? '',
      GRANTD_OPERATOR_TOKEN: OPERATOR_TOKEN,
      GRANTD_DRAIN_SECONDS: '0',
    });
    await shard.waitUntil(() => answersOk(`http://${shardOps}/readyz`), START_SECONDS_MAX);
    await front.waitUntil(() => answersOk(`http://${frontOps}/readyz`), START_SECONDS_MAX);
    await operator.waitUntil(() => answersOk(`http://${consoleOps}/readyz`), START_SECONDS_MAX);
    const { key, tenantId } = await createTenant({
      base_url: `http://${http}`,
      ops_url: `http://${frontOps}`,
      console_url: `http://${console}`,
      operator_token: OPERATOR_TOKEN,
    });
    const readLag = async (): Promise<number> =>
      readMetric(await (await fetch(`http://${shardOps}/metrics`)).text(), 'grantd_checkpoint_lag_entries');
    return {
      name: 'grantd, front + shard, Cassandra',
      product: 'grantd',
      version: manifest.version,
      settings: ['grantd front', 'grantd shard', 'grantd console', 'Cassandra: 1 node, commitlog_sync batch'],
      processes: [shard.pid, front.pid, operator.pid, ...findChildren('cassandra.sh')],
      channels: [{ protocol: 'http', address: http ?? '', key }],
      batches: [CHECKS_PER_BULK],
      lists: true,
      durable: true,
      bulk: {
        protocol: 'http',
        address: console ?? '',
        key: OPERATOR_TOKEN,
        tenant: tenantId,
        perCall: LINES_PER_IMPORT,
        workers: IMPORTS_UNDER_WAY,
      },
      async settle() {
        const endMs = performance.now() + LAG_SECONDS_MAX * 1000;
        while ((await readLag()) > 0) {
          if (performance.now() > endMs) throw new Error('The state tables do not catch up with the log.');
          await delay(LAG_POLL_MS);
        }
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
