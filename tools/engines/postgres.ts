// A real Postgres server for tests, on loopback. A shell runs it and ends it when this process ends, however it ends.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { waitFor } from '../../test/kit/wait-for.ts';
import { missingProgram } from './debian-program.ts';
import { freePort } from './free-port.ts';

const HOST = '127.0.0.1';
const START_MS_MAX = 60_000;
/** It does not run as root. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
/** Prints the process id of the server and ends it at the end of its own input. */
const KEEPER = '"$@" >&2 & echo $!; cat > /dev/null; kill -QUIT $!; wait';
const run = promisify(execFile);

/** Undefined if Postgres can be started, otherwise why not. */
export const missingPostgres = (what: string): Promise<string | undefined> =>
  missingProgram(what, 'pg_ctlcluster', ['postgresql']);

const program = (name: string): string => globSync(`/usr/lib/postgresql/*/bin/${name}`).sort().at(-1) ?? name;

export class PostgresServer {
  readonly url: string;
  readonly #directory: string;
  readonly #keeper: ChildProcess;

  /** `settings`: beside those of a test. */
  static async start(more: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const directory = mkdtempSync(join(tmpdir(), 'grantd-postgres-'));
    if (USER.uid !== undefined) chownSync(directory, USER.uid, USER.gid);
    const data = join(directory, 'data');
    const options = { cwd: directory, ...USER };
    await run(program('initdb'), ['-D', data, '-U', 'grantd', '-A', 'trust', '-E', 'UTF8', '--no-sync'], options);
    const port = await freePort();
    const settings = [`listen_addresses=${HOST}`, `port=${port}`, `unix_socket_directories=${directory}`, 'fsync=off'];
    settings.push(...Object.entries(more).map((each) => each.join('=')));
    const keeper = spawn(
      'bash',
      ['-c', KEEPER, 'postgres-keeper', program('postgres'), '-D', data, ...settings.flatMap((each) => ['-c', each])],
      { stdio: ['pipe', 'pipe', 'ignore'], detached: true, ...options },
    );
    await once(createInterface({ input: keeper.stdout }), 'line');
    const isReady = (): Promise<boolean> =>
      run(program('pg_isready'), ['-h', HOST, '-p', String(port)], options).then(
        () => true,
        () => false,
      );
    await waitFor(`Postgres on port ${port}`, isReady, START_MS_MAX);
    return new PostgresServer(`postgres://grantd@${HOST}:${port}/postgres`, directory, keeper);
  }

  private constructor(url: string, directory: string, keeper: ChildProcess) {
    this.url = url;
    this.#directory = directory;
    this.#keeper = keeper;
  }

  async stop(): Promise<void> {
    this.#keeper.stdin?.end();
    if (this.#keeper.exitCode === null) await once(this.#keeper, 'exit');
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
