// The cluster on this machine: Cassandra, Redis if there is one, shards, fronts and a console, in the order in which
// they need each other. If the start fails, every process that was started ends.

import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type CassandraCluster, provideCassandra, startCassandra } from '../../tools/engines/cassandra.ts';
import { findProgram } from '../../tools/engines/debian-program.ts';
import { RedisServer } from '../../tools/engines/redis.ts';
import { Member } from './member.ts';
import { ClusterOperator, type Demo } from './operator.ts';
import { portOf, takenPorts } from './ports.ts';

const HOST = '127.0.0.1';
/** Few, so that "grantd slots" fits on a screen; the number cannot change later. */
const SLOTS = 24;
const START_MS_MAX = 120_000;
const POLL_MS = 200;

/** An expected reason for which there is no cluster here, as a sentence. */
export class ClusterRefusal extends Error {}

export interface LocalClusterOptions {
  readonly shards: number;
  readonly fronts: number;
  /** The first of its ports. */
  readonly port: number;
  /** The folder of data that is kept; undefined: a folder that is removed at the end. */
  readonly keep: string | undefined;
  readonly say: (text: string) => void;
  /** Ends the start. */
  readonly signal: AbortSignal;
}

/** The text of a file of the folder, made at its first use: a later start finds the same. */
function keptText(file: string, make: () => string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const text = make();
    writeFileSync(file, text, { mode: 0o600 });
    return text;
  }
}

function readDemo(directory: string): Demo | undefined {
  try {
    const { tenant_id: tenantId, key } = JSON.parse(readFileSync(join(directory, 'demo.json'), 'utf8'));
    return typeof tenantId === 'string' && typeof key === 'string' ? { tenantId, key } : undefined;
  } catch {
    return undefined;
  }
}

export class LocalCluster {
  readonly directory: string;
  readonly consoleUrl: string;
  readonly frontUrls: readonly string[];
  readonly tokenFile: string;
  readonly #options: LocalClusterOptions;
  readonly #token: string;
  readonly #members: Member[] = [];
  readonly #operator: ClusterOperator;
  #cassandra: CassandraCluster | undefined;
  #redis: RedisServer | undefined;
  #demo: Demo | undefined;
  #shardInUse: string | undefined;

  /** Throws a ClusterRefusal if this machine cannot have one. */
  static async start(options: LocalClusterOptions): Promise<LocalCluster> {
    await demandPorts(options);
    const cluster = new LocalCluster(options);
    try {
      await cluster.#start();
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  private constructor(options: LocalClusterOptions) {
    const { keep, port, fronts, signal } = options;
    this.#options = options;
    if (keep !== undefined) mkdirSync(keep, { recursive: true, mode: 0o700 });
    this.directory = keep === undefined ? mkdtempSync(join(tmpdir(), 'grantd-cluster-')) : resolve(keep);
    // Removes the token however this process ends.
    if (keep === undefined) process.once('exit', () => rmSync(this.directory, { recursive: true, force: true }));
    this.tokenFile = join(this.directory, 'operator-token');
    this.#token = keptText(this.tokenFile, () => randomBytes(24).toString('base64url'));
    this.consoleUrl = `http://${HOST}:${portOf(port, 'console')}`;
    this.frontUrls = Array.from({ length: fronts }, (_, index) => `http://${HOST}:${portOf(port, 'front', index)}`);
    this.#operator = new ClusterOperator(this.consoleUrl, this.#token, signal);
  }

  get demo(): Demo {
    if (this.#demo === undefined) throw new Error('The cluster is not started.');
    return this.#demo;
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  /** The shard that served the demo tenant when the cluster had started. */
  get memberInUse(): Member | undefined {
    return this.#members.find(({ name }) => name === this.#shardInUse);
  }

  get hasRedis(): boolean {
    return this.#redis !== undefined;
  }

  async #start(): Promise<void> {
    const { shards, fronts, say } = this.#options;
    await this.#startStores();
    await this.#migrate();
    say(`starting ${shards} shards, ${fronts} fronts and a console`);
    const names = Array.from({ length: shards }, (_, index) => `shard-${index + 1}`);
    for (const [index, name] of names.entries()) this.#addShard(name, index);
    for (let index = 0; index < fronts; index += 1) this.#addFront(index);
    this.#add('console', portOf(this.#options.port, 'consoleOps'), {
      ...this.#found(),
      GRANTD_BASE_URL: this.frontUrls[0] ?? '',
      GRANTD_CONSOLE_ADDRESS: new URL(this.consoleUrl).host,
      GRANTD_OPERATOR_TOKEN_FILE: this.tokenFile,
    });
    for (const member of this.#members) member.start();
    for (const member of this.#members) await this.#until(`${member.name} to be ready`, () => member.isReady(), member);
    await this.#until('each shard to have its slots', () => this.#operator.areServed(names));
    this.#demo = readDemo(this.directory) ?? (await this.#createDemo());
    this.#shardInUse = await this.#operator.shardOf(this.#demo.tenantId);
  }

  async #createDemo(): Promise<Demo> {
    const demo = await this.#operator.createDemo();
    const text = JSON.stringify({ tenant_id: demo.tenantId, key: demo.key });
    writeFileSync(join(this.directory, 'demo.json'), `${text}\n`, { mode: 0o600 });
    return demo;
  }

  async #startStores(): Promise<void> {
    const { say, keep } = this.#options;
    say('starting Cassandra (its first use on a machine downloads it, which takes some minutes)');
    if (process.platform !== 'linux' || !(await provideCassandra())) {
      throw new ClusterRefusal(
        'Cassandra is not available here: it needs Linux, Java 17 and Maven (on Debian: apt-get install openjdk-17-jre-headless maven). With Docker, "docker compose up" starts the same cluster.',
      );
    }
    this.#options.signal.throwIfAborted();
    this.#cassandra = await startCassandra({
      nodes: 1,
      ...(keep === undefined ? {} : { directory: join(this.directory, 'cassandra') }),
    });
    this.#options.signal.throwIfAborted();
    if (findProgram('redis-server') === undefined) {
      say('there is no redis-server: each front counts its rate limits by itself');
    } else this.#redis = await RedisServer.start();
  }

  get #storeSettings(): Readonly<Record<string, string>> {
    const { contactPoints = [], localDatacenter = '' } = this.#cassandra ?? {};
    return {
      GRANTD_STORE: 'cassandra',
      GRANTD_CASSANDRA_CONTACT_POINTS: contactPoints.join(','),
      GRANTD_CASSANDRA_LOCAL_DATACENTER: localDatacenter,
      GRANTD_CASSANDRA_REPLICATION_FACTOR: '1',
    };
  }

  async #migrate(): Promise<void> {
    const migrate = this.#create('migrate', { ...this.#storeSettings, GRANTD_SLOTS: String(SLOTS) });
    migrate.start();
    const status = await migrate.waitForEnd();
    if (status !== 0) throw new Error(`"grantd migrate" failed:\n${migrate.logTail()}`);
  }

  #found(): Readonly<Record<string, string>> {
    const { port, shards } = this.#options;
    const addresses = Array.from({ length: shards }, (_, index) => `${HOST}:${portOf(port, 'shard', index)}`);
    return { GRANTD_DISCOVERY: `static:${addresses.join(',')}`, GRANTD_DRAIN_SECONDS: '0' };
  }

  #addShard(name: string, index: number): void {
    const { port } = this.#options;
    this.#add(name, portOf(port, 'shardOps', index), {
      ...this.#storeSettings,
      GRANTD_SHARD_NAME: name,
      GRANTD_RPC_ADDRESS: `${HOST}:${portOf(port, 'shard', index)}`,
    });
  }

  #addFront(index: number): void {
    const url = this.frontUrls[index] ?? '';
    this.#add(`front-${index + 1}`, portOf(this.#options.port, 'frontOps', index), {
      ...this.#found(),
      GRANTD_BASE_URL: url,
      GRANTD_HTTP_ADDRESS: new URL(url).host,
      ...(this.#redis === undefined ? {} : { GRANTD_REDIS_URL: `redis://${this.#redis.address}` }),
    });
  }

  #add(name: string, opsPort: number, settings: Readonly<Record<string, string>>): void {
    const address = `${HOST}:${opsPort}`;
    this.#members.push(this.#create(name, { ...settings, GRANTD_OPS_ADDRESS: address }, `http://${address}`));
  }

  #create(name: string, settings: Readonly<Record<string, string>>, opsUrl?: string): Member {
    const { say } = this.#options;
    return new Member({
      name,
      settings,
      directory: this.directory,
      ...(opsUrl === undefined ? {} : { opsUrl }),
      onEnd: (member, how) => {
        if (member.name !== 'migrate') say(`${member.name} has ended (${how}); Enter restarts it`);
      },
    });
  }

  async #until(what: string, isSo: () => Promise<boolean>, member?: Member): Promise<void> {
    const endMs = performance.now() + START_MS_MAX;
    while (!(await isSo())) {
      this.#options.signal.throwIfAborted();
      if (member !== undefined && !member.isRunning) throw new Error(`${member.name} ended:\n${member.logTail()}`);
      if (performance.now() > endMs) throw new Error(`Timed out waiting for ${what}.\n${member?.logTail() ?? ''}`);
      await pause(POLL_MS);
    }
  }

  /** Restarts killed processes, on the same addresses. */
  startEnded(): void {
    for (const member of this.#members) {
      if (member.isRunning) continue;
      member.start();
      this.#options.say(`${member.name} is restarting: pid ${member.pid}`);
    }
  }

  /** Ends every process, and removes the data unless it is kept. */
  async stop(): Promise<void> {
    const isShard = ({ name }: Member): boolean => name.startsWith('shard-');
    await Promise.all(this.#members.filter((member) => !isShard(member)).map((member) => member.stop('SIGTERM')));
    // All at once: one by one, they would hand their slots to each other. Acknowledged writes are durable.
    await Promise.all(this.#members.filter(isShard).map((member) => member.stop('SIGKILL')));
    await this.#redis?.stop();
    await this.#cassandra?.stop();
    if (this.#options.keep === undefined) rmSync(this.directory, { recursive: true, force: true });
  }
}

async function demandPorts({ port, shards, fronts }: LocalClusterOptions): Promise<void> {
  const ports = [
    ...Array.from({ length: fronts }, (_, index) => portOf(port, 'front', index)),
    portOf(port, 'console'),
    ...Array.from({ length: fronts }, (_, index) => portOf(port, 'frontOps', index)),
    portOf(port, 'consoleOps'),
    ...Array.from({ length: shards }, (_, index) => portOf(port, 'shard', index)),
    ...Array.from({ length: shards }, (_, index) => portOf(port, 'shardOps', index)),
  ];
  const taken = await takenPorts(ports);
  if (taken.length === 0) return;
  const which = taken.length === 1 ? `Port ${taken[0]} is` : `The ports ${taken.join(', ')} are`;
  throw new ClusterRefusal(
    `${which} taken, perhaps by another grantd. End that program, or choose other ports: npm run cluster -- --port ${port + 1000}`,
  );
}
