// Real Redis servers for tests on loopback: a single one, a master with a replica and a sentinel, or a cluster. A shell
// runs each server and ends it when this process ends, however it ends.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { waitFor } from '../../test/kit/wait-for.ts';
import { missingProgram } from './debian-program.ts';
import { freePort } from './free-port.ts';

const HOST = '127.0.0.1';
const START_MS_MAX = 60_000;
/** Each command starts a program, which may wait on a busy machine. */
const COMMAND_MS_MAX = 20_000;
const CLUSTER_SLOTS = 16_384;
const MASTER_NAME = 'limits';
/** Prints the process id of the server and ends it at the end of its own input. */
const KEEPER = 'redis-server "$@" >&2 & echo $!; cat > /dev/null; kill -9 $!; wait';
const run = promisify(execFile);

/** Undefined if Redis can be started, otherwise why not. */
export const missingRedis = (what: string): Promise<string | undefined> => missingProgram(what, 'redis-server');

export class RedisServer {
  readonly port: number;
  readonly #args: readonly string[];
  readonly #directory: string;
  readonly #password: string | undefined;
  #keeper: ChildProcess | undefined;
  #pid = 0;

  static async start(args: readonly string[] = [], password?: string): Promise<RedisServer> {
    return RedisServer.at(await freePort(), args, password);
  }

  static async at(port: number, args: readonly string[], password?: string): Promise<RedisServer> {
    const server = new RedisServer(port, args, password);
    await server.restart();
    return server;
  }

  private constructor(port: number, args: readonly string[], password: string | undefined) {
    this.port = port;
    this.#directory = mkdtempSync(join(tmpdir(), 'grantd-redis-'));
    this.#args = [...args, ...(password === undefined ? [] : ['--requirepass', password])];
    this.#password = password;
  }

  get address(): string {
    return `${HOST}:${this.port}`;
  }

  get directory(): string {
    return this.#directory;
  }

  /** Starts it with an empty database if it is not running. Resolves when it responds. */
  async restart(): Promise<void> {
    if (this.#keeper !== undefined) return;
    const common = ['--bind', HOST, '--port', String(this.port), '--dir', this.#directory, '--save', ''];
    const args = this.#args.includes('--sentinel') ? this.#args : [...common, ...this.#args];
    const keeper = spawn('bash', ['-c', KEEPER, 'redis-keeper', ...args], {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    this.#keeper = keeper;
    const [line] = await once(createInterface({ input: keeper.stdout }), 'line');
    this.#pid = Number(line);
    await waitFor(
      `redis-server on port ${this.port}`,
      async () => (await this.command('ping')) === 'PONG',
      START_MS_MAX,
    );
  }

  /** Runs a command with redis-cli and returns its output. */
  async command(...words: readonly string[]): Promise<string> {
    const authentication = this.#password === undefined ? [] : ['--no-auth-warning', '-a', this.#password];
    const { stdout } = await run('redis-cli', ['-h', HOST, '-p', String(this.port), ...authentication, ...words], {
      timeout: COMMAND_MS_MAX,
    }).catch(() => ({ stdout: '' }));
    return stdout.trim();
  }

  /** `kill -9`. Resolves when it has ended; all its data is lost. */
  async kill(): Promise<void> {
    const keeper = this.#keeper;
    if (keeper === undefined) return;
    this.#keeper = undefined;
    keeper.stdin?.end();
    if (keeper.exitCode === null) await once(keeper, 'exit');
  }

  /** SIGSTOP: it accepts connections and responds to nothing. */
  pause(): void {
    process.kill(this.#pid, 'SIGSTOP');
  }

  resume(): void {
    process.kill(this.#pid, 'SIGCONT');
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Several servers under one address. */
export interface RedisGroup {
  /** In the form of GRANTD_REDIS_URL. */
  readonly url: string;
  readonly servers: readonly RedisServer[];
  stop(): Promise<void>;
}

const groupOf = (url: string, servers: readonly RedisServer[], others: readonly RedisServer[] = []): RedisGroup => ({
  url,
  servers,
  stop: async () => {
    await Promise.all([...servers, ...others].map((server) => server.stop()));
  },
});

/** A master, its replica, and a sentinel that promotes the replica half a second after the master has ended. */
export async function startRedisSentinel(): Promise<RedisGroup> {
  const master = await RedisServer.start(['--repl-diskless-sync-delay', '0']);
  const replica = await RedisServer.start(['--replicaof', HOST, String(master.port)]);
  const inSync = async () => (await replica.command('info', 'replication')).includes('master_link_status:up');
  await waitFor('the replica to follow', inSync, START_MS_MAX);
  const port = await freePort();
  const configuration = join(replica.directory, 'sentinel.conf');
  writeFileSync(
    configuration,
    [
      `port ${port}`,
      `bind ${HOST}`,
      `dir ${replica.directory}`,
      `sentinel monitor ${MASTER_NAME} ${HOST} ${master.port} 1`,
      `sentinel down-after-milliseconds ${MASTER_NAME} 500`,
      `sentinel failover-timeout ${MASTER_NAME} 2000`,
      '',
    ].join('\n'),
  );
  const sentinel = await RedisServer.at(port, [configuration, '--sentinel']);
  const knowsReplica = async () =>
    (await sentinel.command('sentinel', 'replicas', MASTER_NAME)).includes(replica.address);
  await waitFor('the sentinel to know the replica', knowsReplica, START_MS_MAX);
  return groupOf(`redis+sentinel://${sentinel.address}/${MASTER_NAME}`, [master, replica], [sentinel]);
}

/** Three masters without replicas. */
export async function startRedisCluster(): Promise<RedisGroup> {
  const servers = await Promise.all(
    [0, 1, 2].map(async () => {
      const busPort = await freePort();
      const busArgs = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)];
      return RedisServer.start([...busArgs, '--cluster-require-full-coverage', 'no', '--cluster-node-timeout', '1000']);
    }),
  );
  const [first] = servers;
  if (first === undefined) throw new RangeError('A cluster needs servers.');
  await run('redis-cli', ['--cluster', 'create', ...servers.map(({ address }) => address), '--cluster-yes']);
  for (const server of servers) {
    const whole = async () => (await server.command('cluster', 'info')).includes(`cluster_slots_ok:${CLUSTER_SLOTS}`);
    await waitFor('the cluster to be complete', whole, START_MS_MAX);
  }
  return groupOf(`redis+cluster://${servers.map(({ address }) => address).join(',')}`, servers);
}
