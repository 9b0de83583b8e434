// SpiceDB on one of its stores, with large, long-lived caches: docs/compare.md gives the source of each setting.

import { join } from 'node:path';
import { freePorts } from '../../../tools/engines/free-port.ts';
import { BackgroundProcess } from '../../server/background-process.ts';
import type { ModelShape } from '../load-job.ts';
import { AT_WORK } from './at-work.ts';
import { callJson } from './json-call.ts';
import { POSTGRES_CONNECTIONS_MAX, type Postgres, startPostgres } from './postgres.ts';
import type { BulkLoad, Channel, Place, System, SystemContext } from './system.ts';

const VERSION = '1.54.0';
const START_SECONDS_MAX = 60;
const KEY = 'the-key-of-the-comparison';
/** Split between its read and write pools, as its best practices recommend. */
const CONNECTIONS_OF_POOL = (POSTGRES_CONNECTIONS_MAX - 10) / 2;
/** Relationships in one stream of its bulk import. */
const RELATIONSHIPS_PER_IMPORT = 10_000;
/** Up to its limit. */
const BATCHES = [100, 1000, 10_000];
const SETTINGS: readonly string[] = [
  '--skip-release-check',
  '--telemetry-endpoint=',
  '--log-level=error',
  '--metrics-enabled=false',
  '--datastore-prometheus-metrics=false',
  '--dispatch-cache-metrics=false',
  '--dispatch-cluster-cache-metrics=false',
  '--ns-cache-metrics=false',
  '--dispatch-cache-max-cost=1GiB',
  '--dispatch-cluster-enabled=false',
  // Answers are cached for one interval; every run here fits into one.
  '--datastore-revision-quantization-interval=12h',
  '--enable-revision-heartbeat=false',
  '--grpc-max-conn-age=24h',
];
/** The document is of the flat grants; what follows it is for what a model decides. */
const SCHEMA = `definition user {}
definition document {
  relation viewer: user
}
definition team {
  relation member: user
}
definition folder {
  relation parent: folder
  relation shared_with: user | team#member
  permission viewer = shared_with + parent->viewer
}
definition file {
  relation parent: folder
  relation shared_with: user | team#member
  permission viewer = shared_with + parent->viewer
}
definition page {
  relation viewer: user | team#member
  relation editor: user | team#member
  relation guest: user | team#member
  permission publish = viewer & editor
  permission read = viewer - guest
}
caveat at_work(second int, zone string, home string) {
  ${AT_WORK}
}
definition record {
  relation viewer: user with at_work
}`;

export type SpicedbStore = 'memory' | 'postgres';

interface ZedToken {
  readonly token: string;
}

/** The revision of a final write: a check that is at least as fresh sees all writes, and the caches still serve it. */
async function readRevision(http: string): Promise<string> {
  const relationship = {
    resource: { objectType: 'document', objectId: 'last' },
    relation: 'viewer',
    subject: { object: { objectType: 'user', objectId: 'last' } },
  };
  const { writtenAt } = await callJson<{ readonly writtenAt: ZedToken }>(
    `http://${http}/v1/relationships/write`,
    { updates: [{ operation: 'OPERATION_TOUCH', relationship }] },
    { Authorization: `Bearer ${KEY}` },
  );
  return writtenAt.token;
}

/** One schema has all models. */
const modelledIn = (place: Place): Readonly<Record<ModelShape, Place>> => ({
  ruled: place,
  gated: place,
  conditional: place,
});

export async function startSpicedb(
  context: SystemContext,
  program: string,
  store: SpicedbStore,
  postgresPrograms: string | undefined,
): Promise<System> {
  const directory = context.createDirectory();
  const logFile = join(directory, 'spicedb.log');
  await using parts = new AsyncDisposableStack();
  let postgres: Postgres | undefined;
  const engine = ['--datastore-engine', store];
  if (store === 'postgres') {
    const started = await startPostgres(postgresPrograms ?? '', directory);
    parts.defer(() => started.stop());
    postgres = started;
    engine.push('--datastore-conn-uri', postgres.url);
    const command = [program, 'datastore', 'migrate', 'head', '--skip-release-check', ...engine];
    await new BackgroundProcess({ name: 'spicedb datastore migrate', command, logFile }).waitForEnd();
  }
  const [http = '', grpc = ''] = (await freePorts(2)).map((port) => `127.0.0.1:${port}`);
  const pools = ['read', 'write'].flatMap((pool) => [
    `--datastore-conn-pool-${pool}-max-open=${CONNECTIONS_OF_POOL}`,
    `--datastore-conn-pool-${pool}-min-open=${Math.floor(CONNECTIONS_OF_POOL / 2)}`,
  ]);
  const settings = [...SETTINGS, ...(store === 'postgres' ? pools : [])];
  const addresses = ['--grpc-addr', grpc, '--http-enabled', '--http-addr', http, '--grpc-preshared-key', KEY];
  const server = new BackgroundProcess({
    name: 'spicedb',
    command: [program, 'serve', ...addresses, ...engine, ...settings],
    logFile,
  });
  parts.defer(() => server.stop());
  const writeSchema = (): Promise<boolean> =>
    callJson(`http://${http}/v1/schema/write`, { schema: SCHEMA }, { Authorization: `Bearer ${KEY}` }).then(
      () => true,
      () => false,
    );
  await server.waitUntil(writeSchema, START_SECONDS_MAX);
  let revision = '';
  const channelsOf = (): readonly Channel[] => {
    if (revision === '') return [];
    return [
      { protocol: 'http', address: http, key: KEY, revision },
      { protocol: 'grpc', address: grpc, key: KEY, revision },
    ];
  };
  const bulk: BulkLoad = { protocol: 'grpc', address: grpc, key: KEY, perCall: RELATIONSHIPS_PER_IMPORT, workers: 2 };
  const running = parts.move();
  return {
    name: `SpiceDB, ${store === 'memory' ? 'memory' : 'Postgres'}`,
    product: 'spicedb',
    version: VERSION,
    settings: [`spicedb serve ${settings.join(' ')}`, ...(postgres === undefined ? [] : [postgres.settings])],
    processes: [server.pid, ...(postgres === undefined ? [] : [postgres.pid])],
    get channels(): readonly Channel[] {
      return channelsOf();
    },
    get modelled() {
      return modelledIn({ channels: channelsOf(), bulk });
    },
    batches: BATCHES,
    lists: true,
    durable: store !== 'memory',
    bulk,
    settle: async () => {
      revision = await readRevision(http);
    },
    stop: () => running.disposeAsync(),
  };
}
