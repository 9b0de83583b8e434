// A separate Postgres for one peer, in a temporary folder, as an unprivileged user, because it refuses to run as root.
// Commits wait for the disk (fsync and synchronous_commit stay on). The other settings are those that its documentation
// recommends for a machine dedicated to the database.

import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../tools/engines/free-port.ts';
import { BackgroundProcess } from '../../server/background-process.ts';

/** From Debian's package. */
const USER = 'postgres';
const START_SECONDS_MAX = 30;
export const POSTGRES_CONNECTIONS_MAX = 100;
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  max_connections: String(POSTGRES_CONNECTIONS_MAX),
  shared_buffers: '1GB',
  effective_cache_size: '4GB',
  random_page_cost: '1.1',
  max_wal_size: '4GB',
  // SpiceDB's documentation requires it.
  track_commit_timestamp: 'on',
};

export interface Postgres {
  readonly url: string;
  readonly pid: number;
  readonly settings: string;
  stop(): Promise<void>;
}

function userNumbers(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const read = (flag: string): number => Number(spawnSync('id', [flag, USER], { encoding: 'utf8' }).stdout);
  return { uid: read('-u'), gid: read('-g') };
}

export async function startPostgres(programs: string, parent: string): Promise<Postgres> {
  const directory = join(parent, 'postgres');
  mkdirSync(directory, { mode: 0o700 });
  const numbers = userNumbers();
  if (numbers !== undefined) chownSync(directory, numbers.uid, numbers.gid);
  const made = spawnSync(
    join(programs, 'initdb'),
    ['--pgdata', directory, '--username', USER, '--auth', 'trust', '--encoding', 'UTF8', '--locale', 'C'],
    { encoding: 'utf8', ...numbers },
  );
  if (made.status !== 0) throw new Error(`Postgres cannot create its folder: ${made.stderr}`);
  const port = await freePort();
  const settings = Object.entries(SETTINGS).map(([name, value]) => `${name}=${value}`);
  const server = new BackgroundProcess({
    name: 'Postgres',
    command: [
      join(programs, 'postgres'),
      '-D',
      directory,
      ...[...settings, `port=${port}`, `unix_socket_directories=${directory}`].flatMap((each) => ['-c', each]),
    ],
    logFile: join(parent, 'postgres.log'),
    ...(numbers === undefined ? {} : { user: USER }),
    stopSignal: 'SIGINT',
  });
  const isReady = (): boolean =>
    spawnSync(join(programs, 'pg_isready'), ['--host', '127.0.0.1', '--port', String(port)]).status === 0;
  try {
    await server.waitUntil(isReady, START_SECONDS_MAX);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    url: `postgres://${USER}@127.0.0.1:${port}/postgres?sslmode=disable`,
    pid: server.pid,
    settings: `postgres ${settings.join(' ')}`,
    stop: () => server.stop(),
  };
}
