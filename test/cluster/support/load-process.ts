// A process of clients, apart from the test: each writes, checks, lists, and uses keys that come and go, on tenants
// that all clients share. What they saw goes to a file at the end.

import { writeFileSync } from 'node:fs';
import type { Relation, Tuple } from '../../../src/core/tuples.ts';
import { History } from '../../kit/history/history.ts';
import { Balancer } from './balancer.ts';
import { type FromLoadProcess, type LoadJob, monotonicMs, type ToLoadProcess } from './load-job.ts';
import { type Caller, RecordedCalls, type UsedKey } from './recorded-calls.ts';

const SUBJECTS = 4;
const OBJECTS = 5;
const RELATIONS: readonly Relation[] = ['viewer', 'editor'];
const BULK_MAX = 6;
const PAGE_LIMITS = [3, 100];
/** One request in so many uses a key that will be revoked, where there is one. */
const SPARE_KEY_SHARE = 3;
const KEY_LIFE_MS = 1500;
const KEY_PAUSE_MS = 1500;
const KEY_USES_AFTER_END = 2;
/** What is in flight at the end is waited for: far longer than a request may take. */
const REST_MS_MAX = 120_000;

const wait = (delayMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs));

class Load {
  readonly #job: LoadJob;
  readonly #balancer: Balancer;
  readonly #calls: RecordedCalls;
  readonly #keys: readonly UsedKey[];
  readonly #spareKeys = new Map<number, UsedKey>();
  #state: number;
  #turn = 0;
  #stopping = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(job: LoadJob) {
    this.#job = job;
    this.#state = job.process + 1;
    this.#balancer = new Balancer(job.fronts);
    this.#calls = new RecordedCalls(this.#balancer, new History(() => monotonicMs() - job.originMs), job.originMs);
    this.#keys = job.tenants.map((tenant, index) => ({ ...tenant, tenant: index }));
  }

  #random(below: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * below);
  }

  #pick<Item>(items: readonly Item[]): Item {
    const item = items[this.#random(items.length)];
    if (item === undefined) throw new RangeError('There is nothing to pick from.');
    return item;
  }

  #caller(index: number): Caller {
    const { process } = this.#job;
    return { name: `client-${process}-${index}`, address: `127.201.${process}.${index + 1}` };
  }

  start(): void {
    const { clients, requestsPerSecond } = this.#job;
    const pauseMs = (1000 * clients) / requestsPerSecond;
    const work = Array.from({ length: clients }, (_, index) => this.#client(this.#caller(index), pauseMs));
    this.#work = Promise.all([...work, this.#turnKeys(this.#caller(clients))]);
  }

  async #client(caller: Caller, pauseMs: number): Promise<void> {
    await wait(this.#random(pauseMs));
    while (!this.#stopping) {
      const startMs = performance.now();
      await this.#act(caller);
      // Paced by when requests begin; late, it begins the next one at once, and never makes up for more.
      await wait(Math.max(0, pauseMs * (0.5 + this.#random(1000) / 1000) - (performance.now() - startMs)));
    }
  }

  #tuple(): Tuple {
    return {
      subject: `user:${this.#random(SUBJECTS)}`,
      relation: this.#pick(RELATIONS),
      object: `doc:${this.#random(OBJECTS)}`,
    };
  }

  /** Tenants in turn: however few requests there are, none is left without one for long, and its pauses are seen. */
  #nextTenant(): UsedKey {
    this.#turn += 1;
    const own = this.#keys[this.#turn % this.#keys.length];
    if (own === undefined) throw new RangeError('There is no tenant.');
    return own;
  }

  async #act(caller: Caller): Promise<void> {
    const own = this.#nextTenant();
    const spare = this.#spareKeys.get(own.tenant);
    const used = spare !== undefined && this.#random(SPARE_KEY_SHARE) === 0 ? spare : own;
    const tuple = this.#tuple();
    const dice = this.#random(100);
    if (dice < 45) await this.#calls.check(caller, used, tuple);
    else if (dice < 66) await this.#calls.grant(caller, used, tuple);
    else if (dice < 83) await this.#calls.revoke(caller, used, tuple);
    else if (dice < 94) {
      const tuples = Array.from({ length: 1 + this.#random(BULK_MAX) }, () => this.#tuple());
      await this.#calls.bulk(caller, used, tuples);
    } else await this.#calls.list(caller, used, tuple.subject, tuple.relation, this.#pick(PAGE_LIMITS));
  }

  /** Makes a key, lets the clients use it, revokes it, and goes on using it. */
  async #turnKeys(caller: Caller): Promise<void> {
    while (!this.#stopping) {
      const own = this.#pick(this.#keys);
      const spare = await this.#calls.createKey(caller, own);
      if (spare !== undefined) {
        this.#spareKeys.set(own.tenant, spare);
        await wait(KEY_LIFE_MS);
        await this.#calls.revokeKey(caller, own, spare.keyId);
        for (let use = 0; use < KEY_USES_AFTER_END; use += 1) await this.#calls.check(caller, spare, this.#tuple());
        this.#spareKeys.delete(own.tenant);
      }
      await wait(KEY_PAUSE_MS);
    }
  }

  /** Reads everything once more: what was acknowledged has to be there. */
  async #sweep(): Promise<void> {
    const caller = this.#caller(0);
    const subjects = Array.from({ length: SUBJECTS }, (_, index) => `user:${index}`);
    for (const used of this.#keys) {
      const tuples = subjects.flatMap((subject) =>
        RELATIONS.flatMap((relation) =>
          Array.from({ length: OBJECTS }, (_, index) => ({ subject, relation, object: `doc:${index}` })),
        ),
      );
      await this.#calls.bulk(caller, used, tuples);
      for (const subject of subjects)
        for (const relation of RELATIONS) await this.#calls.list(caller, used, subject, relation, 100);
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const rest = setTimeout(() => reply({ kind: 'failed', message: 'Some requests never ended.' }), REST_MS_MAX);
    await this.#work;
    clearTimeout(rest);
    if (this.#job.sweeps) await this.#sweep();
    this.#balancer.close();
    const { requests } = this.#calls;
    writeFileSync(this.#job.resultFile, JSON.stringify({ operations: this.#calls.operations(), requests }));
  }
}

const reply = (message: FromLoadProcess): void => {
  process.send?.(message);
};

let load: Load | undefined;
process.on('message', (message: ToLoadProcess) => {
  if (message.kind === 'start') {
    load = new Load(message.job);
    load.start();
    reply({ kind: 'started' });
    return;
  }
  load?.stop().then(
    () => reply({ kind: 'done' }),
    (error: unknown) =>
      reply({ kind: 'failed', message: error instanceof Error ? (error.stack ?? '') : String(error) }),
  );
});
process.on('disconnect', () => process.exit());
