// A real Cassandra for tests: a cluster of its own on loopback, whose nodes can be killed, paused and started again. The
// nodes live in the hands of a shell (cassandra.sh) that ends them when this process ends, however it ends.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

const SCRIPT = join(import.meta.dirname, 'cassandra.sh');
/** The status with which the script ends where Java or the jars cannot be had. */
const STATUS_MISSING = 3;

export interface CassandraClusterOptions {
  readonly nodes: number;
  /** Passwords and rights; the first role is cassandra/cassandra. */
  readonly auth?: boolean;
  /** Clients speak TLS and show a certificate. */
  readonly tls?: boolean;
  /** Default: batch. */
  readonly commitlogSync?: 'batch' | 'periodic';
  /** Default: v2. */
  readonly paxosVariant?: 'v1' | 'v2';
}

export interface CassandraCluster {
  /** Of node 1, node 2 and so on. */
  readonly contactPoints: readonly string[];
  readonly localDatacenter: string;
  readonly credentials?: { readonly username: string; readonly password: string };
  /** PEM texts. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
  /** `kill -9`; the data stays. Nodes are numbered from 1. Resolves when they are gone. */
  kill(...nodes: number[]): Promise<void>;
  /** Starts nodes on their data, after killing those that run. Resolves when they answer and see the others that run. */
  restart(...nodes: number[]): Promise<void>;
  /** SIGSTOP. */
  pause(...nodes: number[]): Promise<void>;
  /** SIGCONT. */
  resume(...nodes: number[]): Promise<void>;
  /** Ends every node and removes the data. */
  stop(): Promise<void>;
}

/** Where `missing` says why, Cassandra cannot be had on this machine. */
class CassandraMissing extends Error {}

function runScript(args: readonly string[], environment: Readonly<Record<string, string>> = {}): ChildProcess {
  // In a session of its own: an interrupt at the terminal is for the test, which then ends the script.
  return spawn('bash', [SCRIPT, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
}

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });

/**
 * Undefined where a cluster can be started; else why not, which is then said loudly and is a failure where CI is set.
 * The first call on a machine takes a minute. For the head of a test file: its suites are skipped for that reason.
 */
export async function missingCassandra(what: string): Promise<string | undefined> {
  const status = await ended(runScript(['install']));
  if (status === 0) return undefined;
  if (status !== STATUS_MISSING) throw new Error(`Cassandra could not be installed (status ${status}).`);
  const reason = 'Cassandra cannot be had on this machine: Java 17, Maven or its jars are missing.';
  if (process.env.CI !== undefined) throw new CassandraMissing(reason);
  console.error(`\nNOT TESTED: ${what}. ${reason}\n`);
  return reason;
}

/** The lines of a stream, each taken once, in their order. */
class Lines {
  readonly #lines: string[] = [];
  readonly #waiting: { resolve: (line: string) => void; reject: (error: Error) => void }[] = [];
  #ended = false;

  constructor(stream: Readable) {
    const reader = createInterface({ input: stream });
    reader.on('line', (line) => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#lines.push(line);
      else next.resolve(line);
    });
    reader.on('close', () => {
      this.#ended = true;
      for (const { reject } of this.#waiting.splice(0))
        reject(new Error('Cassandra ended; its last words stand above.'));
    });
  }

  next(): Promise<string> {
    const line = this.#lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (this.#ended) return Promise.reject(new Error('Cassandra ended; its last words stand above.'));
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }
}

/** Resolves when every node answers and sees every other: some 6 s for one, 13 s for three. */
export async function startCassandra(options: CassandraClusterOptions): Promise<CassandraCluster> {
  const child = runScript(['serve', String(options.nodes)], {
    CASSANDRA_AUTH: options.auth === true ? '1' : '',
    CASSANDRA_TLS: options.tls === true ? '1' : '',
    CASSANDRA_SYNC: options.commitlogSync ?? 'batch',
    CASSANDRA_PAXOS: options.paxosVariant ?? 'v2',
  });
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('The script has pipes.');
  // It may end before it is told to.
  stdin.on('error', () => {});
  const exit = ended(child);
  const lines = new Lines(stdout);
  const [word, net = '', directory = ''] = (await lines.next()).split(' ');
  if (word !== 'ready') throw new Error(`Cassandra did not start: ${word}`);
  let last: Promise<unknown> = Promise.resolve();
  /** One at a time, in the order of the calls. */
  const command = (name: string, nodes: readonly number[]): Promise<void> => {
    const run = async (): Promise<void> => {
      stdin.write(`${name} ${nodes.join(' ')}\n`);
      const answer = await lines.next();
      if (answer !== 'done') throw new Error(`Cassandra: ${answer}`);
    };
    const done = last.then(run, run);
    last = done;
    return done;
  };
  const pem = (name: string): string => readFileSync(join(directory, `${name}.pem`), 'utf8');
  return {
    contactPoints: Array.from({ length: options.nodes }, (_, index) => `127.0.${net}.${index + 1}`),
    localDatacenter: 'datacenter1',
    ...(options.auth === true ? { credentials: { username: 'cassandra', password: 'cassandra' } } : {}),
    ...(options.tls === true ? { tls: { ca: pem('ca'), cert: pem('client'), key: pem('client-key') } } : {}),
    kill: (...nodes) => command('kill', nodes),
    restart: (...nodes) => command('restart', nodes),
    pause: (...nodes) => command('pause', nodes),
    resume: (...nodes) => command('resume', nodes),
    stop: async () => {
      stdin.end();
      await exit;
    },
  };
}
