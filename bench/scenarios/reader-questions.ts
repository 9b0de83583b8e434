// What a question of a front costs the owner of a tenant with readers: how far the log is. Fronts of any load ask at
// most 250 times a second, each over a stream of its own; what the processes take without questions is left out.

import { credentials } from '@grpc/grpc-js';
import { SLOTS_DEFAULT, slotOfTenant } from '../../src/core/slots.ts';
import { Peer } from '../../src/rpc/messages.ts';
import { CLIENT_OPTIONS, ShardClient } from '../../src/rpc/protocol.ts';
import type { CassandraCluster } from '../../tools/engines/cassandra.ts';
import type { Figure } from '../figure.ts';
import type { BenchContext } from '../scenario.ts';
import { GrantdCluster } from '../server/grantd-cluster.ts';
import { delay } from '../server/grantd-process.ts';
import { createTenant, setReaders } from '../server/operator.ts';
import { readCpuSeconds } from '../server/resource-use.ts';
import { median } from '../statistics.ts';

const FRONTS = 16;
const PER_SECOND = [250, 1000, FRONTS * 250];
const CONNECTING_MS = 1000;
/** Answers that are still on their way. */
const REST_MS = 500;

class Front {
  answered = 0;
  readonly #client: InstanceType<typeof ShardClient>;
  readonly #stream: ReturnType<InstanceType<typeof ShardClient>['exchange']>;
  readonly #request: { readonly tenantId: string; readonly slot: number };

  constructor(address: string, tenantId: string) {
    this.#request = { tenantId, slot: slotOfTenant(tenantId, SLOTS_DEFAULT) };
    this.#client = new ShardClient(address, credentials.createInsecure(), CLIENT_OPTIONS);
    this.#stream = this.#client.exchange();
    this.#stream.on('data', ({ replies }) => {
      for (const { position } of replies) if (position) this.answered += 1;
    });
    this.#stream.on('error', () => {});
    this.#stream.write({ hello: { version: '', name: 'bench', peer: Peer.PEER_FRONT, slots: 0 } });
  }

  ask(id: number): void {
    this.#stream.write({ calls: [{ id, readPosition: this.#request }] });
  }

  close(): void {
    this.#stream.cancel();
    this.#client.close();
  }
}

export async function measureQuestions(
  context: BenchContext,
  cassandra: CassandraCluster,
  directory: string,
): Promise<readonly Figure[]> {
  await using started = new AsyncDisposableStack();
  const cluster = await GrantdCluster.start({ cassandra, directory, keyspace: 'questions', shards: 1, fronts: 1 });
  started.defer(() => cluster.stop());
  const [owner] = cluster.shards;
  if (owner === undefined) throw new Error('The owner is not known.');
  const access = await createTenant(cluster.addresses);
  await setReaders(cluster.addresses, access, 1);
  const fronts = Array.from({ length: FRONTS }, () => new Front(owner.address, access.tenantId));
  started.defer(() => {
    for (const front of fronts) front.close();
  });
  await delay(CONNECTING_MS);

  const answered = (): number => fronts.reduce((sum, front) => sum + front.answered, 0);
  const run = async (perSecond: number): Promise<{ readonly cpuSeconds: number; readonly answers: number }> => {
    const [cpuBefore, answersBefore, startMs] = [readCpuSeconds(owner.pid), answered(), performance.now()];
    let asked = 0;
    for (let elapsedMs = 0; elapsedMs < context.durationMs; elapsedMs = performance.now() - startMs) {
      for (; asked < (elapsedMs * perSecond) / 1000; asked += 1) fronts[asked % FRONTS]?.ask(asked + 1);
      await delay(1);
    }
    const cpuSeconds = readCpuSeconds(owner.pid) - cpuBefore;
    await delay(REST_MS);
    if (answered() - answersBefore !== asked) throw new Error('The owner has not answered every question.');
    return { cpuSeconds, answers: asked };
  };
  await run(Math.max(...PER_SECOND));
  context.progress('the owner without questions');
  const idle = await run(0);
  const micros = PER_SECOND.map((perSecond) => ({ perSecond, rounds: [] as number[] }));
  for (let round = 1; round <= context.rounds; round += 1) {
    context.progress(`questions, round ${round} of ${context.rounds}`);
    for (const { perSecond, rounds } of micros) {
      const { cpuSeconds, answers } = await run(perSecond);
      rounds.push(((cpuSeconds - idle.cpuSeconds) * 1e6) / answers);
    }
  }
  return micros.map(({ perSecond, rounds }) => ({
    name: `the owner’s CPU per question, ${perSecond}/s`,
    unit: 'µs',
    value: median(rounds),
    rounds,
  }));
}
