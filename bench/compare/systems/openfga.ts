// OpenFGA on one of its stores, with every cache that its documentation recommends for checks and listings:
// docs/compare.md gives the source of each setting.

import { join } from 'node:path';
import { freePorts } from '../../../tools/engines/free-port.ts';
import { answersOk, BackgroundProcess } from '../../server/background-process.ts';
import type { Access } from '../load-job.ts';
import { callJson } from './json-call.ts';
import { MODEL, MODELS } from './openfga-models.ts';
import { POSTGRES_CONNECTIONS_MAX, type Postgres, startPostgres } from './postgres.ts';
import type { Place, System, SystemContext } from './system.ts';

const VERSION = '1.22.1';
const START_SECONDS_MAX = 60;
/** Leaves some connections free for a superuser. */
const CONNECTIONS = POSTGRES_CONNECTIONS_MAX - 10;
/** Its default limit of tuples in one write. */
const TUPLES_PER_WRITE = 100;
/** Its default limit of checks in one batch is 50; a setting raises it. */
const BATCHES = [50, 1000];
/** In memory, each write scans all tuples: 100,000 take three minutes, 1,000,000 would take hours. */
const GRANTS_MAX_IN_MEMORY = 200_000;
/** Longer than any run, so that no cached answer is evaluated again. */
const CACHE_TTL = '12h';
const SETTINGS: readonly string[] = [
  '--playground-enabled=false',
  '--log-level=none',
  '--metrics-enabled=false',
  // By default 3 s: on a busy machine, that would cut off answers, and lists without a word.
  '--request-timeout=100s',
  '--listObjects-deadline=90s',
  '--listUsers-deadline=90s',
  '--check-query-cache-enabled=true',
  `--check-query-cache-ttl=${CACHE_TTL}`,
  '--check-iterator-cache-enabled=true',
  `--check-iterator-cache-ttl=${CACHE_TTL}`,
  '--list-objects-iterator-cache-enabled=true',
  `--list-objects-iterator-cache-ttl=${CACHE_TTL}`,
  '--check-cache-limit=1000000',
  `--max-checks-per-batch-check=${Math.max(...BATCHES)}`,
];
export type OpenfgaStore = 'memory' | 'sqlite' | 'postgres';

const STORE_NAMES: Readonly<Record<OpenfgaStore, string>> = {
  memory: 'memory',
  sqlite: 'SQLite',
  postgres: 'Postgres',
};

async function createStore(url: string, model: object): Promise<Pick<Access, 'store' | 'model'>> {
  const store = await callJson<{ readonly id: string }>(`${url}/stores`, { name: 'compare' });
  const written = await callJson<{ readonly authorization_model_id: string }>(
    `${url}/stores/${store.id}/authorization-models`,
    model,
  );
  return { store: store.id, model: written.authorization_model_id };
}

/** A new store with the model, by both protocols. */
async function openStore(http: string, grpc: string, workers: number, model: object): Promise<Place> {
  const ids = await createStore(`http://${http}`, model);
  return {
    channels: [
      { protocol: 'http', address: http, ...ids },
      { protocol: 'grpc', address: grpc, ...ids },
    ],
    bulk: { protocol: 'grpc', address: grpc, ...ids, perCall: TUPLES_PER_WRITE, workers },
  };
}

export async function startOpenfga(
  context: SystemContext,
  program: string,
  store: OpenfgaStore,
  postgresPrograms: string | undefined,
): Promise<System> {
  const directory = context.createDirectory();
  const logFile = join(directory, 'openfga.log');
  await using parts = new AsyncDisposableStack();
  let postgres: Postgres | undefined;
  const engine = ['--datastore-engine', store];
  if (store === 'postgres') {
    const started = await startPostgres(postgresPrograms ?? '', directory);
    parts.defer(() => started.stop());
    postgres = started;
    engine.push('--datastore-uri', postgres.url);
  } else if (store === 'sqlite') {
    engine.push('--datastore-uri', `file:${join(directory, 'openfga.sqlite')}`);
  }
  if (store !== 'memory') {
    const migration = new BackgroundProcess({
      name: 'openfga migrate',
      command: [program, 'migrate', ...engine],
      logFile,
    });
    await migration.waitForEnd();
  }
  const [http = '', grpc = ''] = (await freePorts(2)).map((port) => `127.0.0.1:${port}`);
  const pool =
    store === 'postgres'
      ? [`--datastore-max-open-conns=${CONNECTIONS}`, `--datastore-max-idle-conns=${CONNECTIONS}`]
      : [];
  const settings = [...SETTINGS, ...pool];
  const server = new BackgroundProcess({
    name: 'openfga',
    command: [program, 'run', '--http-addr', http, '--grpc-addr', grpc, ...engine, ...settings],
    logFile,
  });
  parts.defer(() => server.stop());
  await server.waitUntil(() => answersOk(`http://${http}/healthz`), START_SECONDS_MAX);
  // SQLite and memory serialize writes; more at a time only fail because the database is busy.
  const workers = store === 'postgres' ? 8 : 1;
  const flat = await openStore(http, grpc, workers, MODEL);
  const modelled = {
    ruled: await openStore(http, grpc, workers, MODELS.ruled),
    gated: await openStore(http, grpc, workers, MODELS.gated),
    conditional: await openStore(http, grpc, workers, MODELS.conditional),
  };
  const running = parts.move();
  return {
    name: `OpenFGA, ${STORE_NAMES[store]}`,
    product: 'openfga',
    version: VERSION,
    settings: [`openfga run ${settings.join(' ')}`, ...(postgres === undefined ? [] : [postgres.settings])],
    processes: [server.pid, ...(postgres === undefined ? [] : [postgres.pid])],
    channels: flat.channels,
    batches: BATCHES,
    lists: true,
    durable: store !== 'memory',
    ...(store === 'memory' ? { grantsMax: GRANTS_MAX_IN_MEMORY } : {}),
    bulk: flat.bulk,
    modelled,
    settle: async () => {},
    stop: () => running.disposeAsync(),
  };
}
