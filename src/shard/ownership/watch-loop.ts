// The rounds of a shard: it scans the members, has the slots planned and moved, and goes on until it has stopped. It
// keeps: a store that cannot answer ends no loop, and the log says so once per failure, not once per round.

import { type Clock, delay } from '../../core/async/clock.ts';
import { equalLists } from '../../core/structures/equal-lists.ts';
import type { Log } from '../../telemetry/log.ts';
import type { MemberAddress } from '../shard.ts';
import { MOVING_ROUND_MS } from './handover-pace.ts';
import type { Membership } from './membership.ts';
import type { MembershipLease } from './membership-lease.ts';
import type { Ownership } from './ownership.ts';
import type { Readiness } from './readiness.ts';
import type { StoreSharing } from './store-sharing.ts';

export interface WatchLoopPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly membership: Membership;
  readonly ownership: Ownership;
  readonly sharing: StoreSharing;
  readonly readiness: Readiness;
  /** The one that is on now. */
  readonly session: () => MembershipLease;
  /** While it stops, the rounds hand its slots over. */
  readonly stopping: () => boolean;
  readonly stopped: () => boolean;
  readonly onNeighboursChanged: () => void;
}

export class WatchLoop {
  readonly #ports: WatchLoopPorts;
  #neighbours: readonly MemberAddress[] = [];
  #scannedAtMs = Number.NEGATIVE_INFINITY;
  #failing = false;

  constructor(ports: WatchLoopPorts) {
    this.#ports = ports;
  }

  /** The other living members, where fronts may look for the other slots. */
  get neighbours(): readonly MemberAddress[] {
    return this.#neighbours;
  }

  async run(): Promise<void> {
    const { clock, log, membership, ownership } = this.#ports;
    while (!this.#ports.stopped()) {
      const session = this.#ports.session();
      const scanMs = membership.scanMs(session.incarnation);
      try {
        await this.#round(session, scanMs);
        this.#failing = false;
      } catch (error) {
        if (!this.#failing) log.warn({ err: error }, 'members and slots cannot be looked at; trying again');
        this.#failing = true;
      }
      await delay(clock, ownership.moving || this.#ports.stopping() ? MOVING_ROUND_MS : scanMs);
    }
  }

  async #round(session: MembershipLease, scanMs: number): Promise<void> {
    const { clock, ownership, readiness } = this.#ports;
    const nowMs = clock.monotonicMs();
    const isDue = nowMs - this.#scannedAtMs >= scanMs;
    if (isDue || session.state === 'joining' || ownership.pace.awaitsScan(nowMs)) await this.#scan(session, nowMs);
    await ownership.round(session);
    readiness.update(ownership);
  }

  async #scan(session: MembershipLease, nowMs: number): Promise<void> {
    const { membership, ownership, sharing } = this.#ports;
    this.#scannedAtMs = nowMs;
    await membership.scan();
    ownership.pace.scanned(nowMs);
    this.#updateNeighbours();
    await sharing.lookAfterMembers(session);
  }

  #updateNeighbours(): void {
    const neighbours = this.#ports.membership.neighboursOf(this.#ports.session().incarnation);
    if (equalLists(neighbours, this.#neighbours, isSameMember)) return;
    this.#neighbours = neighbours;
    this.#ports.onNeighboursChanged();
  }
}

const isSameMember = (left: MemberAddress, right: MemberAddress): boolean =>
  left.shardName === right.shardName && left.address === right.address;
