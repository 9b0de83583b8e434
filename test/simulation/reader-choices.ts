// A tenant whose readers are `auto`, and the rules for them. Its owner is crowded for a while, without work: the time
// that its calls would have waited is added. Its key is used all the time, mostly at readers. It keeps: once the owner
// has chosen a number and some time has passed, so many shards answer for the tenant beside its owner, and no other
// does, whatever fronts knew before; while the tenant is crowded it gets readers, and later it has none; whoever
// answered, the owner tells when its key was used last.

import type { RequestContext } from '../../src/front/front.ts';
import type { WorkloadPorts } from './caller.ts';
import { READERS_DRAWN_MAX } from './profile.ts';
import type { RunningFront } from './simulated-cluster.ts';

const CROWD_MS = 250;
/** Of it calls wait: far more than a share from which readers are chosen. */
const CROWDED_SHARE = 0.8;
const LOOK_MS = 5000;
/** Fronts know a choice by then, and have handles at all readers of which one paused a moment before. */
const SETTLED_MS = 30_000;
/** In a shorter time than from one look to the next, each reader gets one of so many checks. */
const CHECKS_MIN = 25;

/** The key is used every second or two, and readers tell it within ten seconds or so. */
const USED_MS_MAX = 20_000;

interface Look {
  readonly chosen: number;
  readonly chosenAtMs: number;
  /** That shards have answered as readers since they started. */
  readonly calls: ReadonlyMap<string, number>;
  /** Checks of all clients so far that were answered, by whomever. */
  readonly checks: number;
}

/** A call of the operator that succeeds. */
type Operate = <Value>(
  what: string,
  run: (front: RunningFront['front'], context: RequestContext) => Promise<Value>,
) => Promise<Value>;

export class ReaderChoices {
  readonly #ports: WorkloadPorts;
  readonly #operate: Operate;
  #most = 0;

  constructor(ports: WorkloadPorts, operate: Operate) {
    this.#ports = ports;
    this.#operate = operate;
  }

  async run(endMs: number): Promise<void> {
    const { scheduler } = this.#ports.cluster;
    const crowdedUntilMs = scheduler.nowMs + this.#ports.profile.crowdedMs;
    void this.#crowd(crowdedUntilMs);
    let before = await this.#look(undefined);
    while (scheduler.nowMs < endMs) {
      await scheduler.sleep(LOOK_MS);
      const look = await this.#look(before);
      this.#judge(before, look);
      await this.#judgeUse();
      before = look;
    }
    if (this.#most < READERS_DRAWN_MAX || before.chosen > 0) {
      this.#ports.report(`a crowded tenant gets ${this.#most} readers, and ${before.chosen} are left in the end`);
    }
  }

  async #crowd(endMs: number): Promise<void> {
    const { cluster, tenants } = this.#ports;
    while (cluster.scheduler.nowMs < endMs) {
      await cluster.scheduler.sleep(CROWD_MS);
      const owner = cluster.ownerOf(0);
      if (owner === undefined) continue;
      const nowMs = owner.process.clock.monotonicMs();
      for (const { tenantId } of tenants) owner.turns.crowding.add(tenantId, CROWD_MS * CROWDED_SHARE, nowMs);
    }
  }

  async #look(before: Look | undefined): Promise<Look> {
    const tenantId = this.#ports.tenants[0]?.tenantId;
    if (tenantId === undefined) throw new Error('There is no tenant.');
    const status = await this.#operate('read a tenant', ({ operator }, context) =>
      operator.call('readTenant', context, { tenantId }),
    );
    const slots = await this.#operate('list the slots', ({ operator }, context) => operator.listSlots(context));
    const readers = slots.flatMap((slot) => slot.readers).filter((reader) => reader.tenantId === tenantId);
    const chosen = status.chosenReaders ?? 0;
    this.#most = Math.max(this.#most, chosen);
    return {
      chosen,
      chosenAtMs: before?.chosen === chosen ? before.chosenAtMs : this.#ports.cluster.scheduler.nowMs,
      calls: new Map(readers.map(({ shardName, calls }) => [shardName, calls])),
      checks: this.#ports.history.operations().filter(({ kind, outcome }) => kind === 'check' && outcome !== undefined)
        .length,
    };
  }

  async #judgeUse(): Promise<void> {
    const { cluster, tenants, report } = this.#ports;
    for (const { tenantId, key } of tenants) {
      const query = { limit: 1000, cursor: undefined };
      const { items } = await this.#operate('list the keys', async ({ operator }, context) => {
        const session = await operator.tenant(context, tenantId, 'simulation');
        return session.call('listKeys', context, query);
      });
      const usedAtMs = items.find(({ keyId }) => keyId === key.keyId)?.lastUsedAtMs;
      const nowMs = cluster.ownerOf(0)?.process.clock.wallMs() ?? 0;
      if (usedAtMs !== undefined && nowMs - usedAtMs <= USED_MS_MAX) continue;
      report(`a key that is in use is said to have been used last at ${usedAtMs}, and it is ${nowMs}`);
    }
  }

  #judge(before: Look, { chosen, chosenAtMs, calls, checks }: Look): void {
    if (this.#ports.cluster.scheduler.nowMs - chosenAtMs < SETTLED_MS) return;
    const answered = [...calls].flatMap(([shardName, count]) => {
      const more = count - (before.calls.get(shardName) ?? 0);
      return more > 0 ? [{ shardName, more }] : [];
    });
    const sum = answered.reduce((total, { more }) => total + more, 0);
    // A client may wait for a front that was killed, and ask nothing meanwhile.
    const isUnread = sum === 0 && checks - before.checks >= CHECKS_MIN;
    const tooFew = answered.length < chosen && (sum >= CHECKS_MIN || isUnread);
    if (answered.length <= chosen && !tooFew) return;
    const names = answered.map(({ shardName }) => shardName).join(' ');
    this.#ports.report(
      `a tenant has ${chosen} readers for ${SETTLED_MS} ms at least, and is answered by ${names || 'none'}`,
    );
  }
}
