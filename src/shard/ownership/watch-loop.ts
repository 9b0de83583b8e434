// The rounds of a shard: each scans the members, plans the slots and moves them, until the shard has stopped.
// Invariant: a store that does not respond never ends the loop, and the log reports an outage once, not once per round.
// A sign that a member has ended only makes the scans more frequent; what they show decides.

import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../core/async/clock.ts';
import type { Log } from '../../telemetry/log.ts';
import type { MemberAddress } from '../shard.ts';
import { MOVING_ROUND_MS } from './handover-pace.ts';
import type { Membership } from './membership.ts';
import type { MembershipLease } from './membership-lease.ts';
import type { Ownership } from './ownership.ts';
import type { StoreSharing } from './store-sharing.ts';

/** After a sign that a member has ended: until its death is known, if its place is watched (place-watch.ts). */
const LOOK_MS = 1000;
const LOOK_SCAN_MS = 50;
/** Between the beginnings of two such looks: signs without end do not make frequent scans the rule. */
const LOOK_AGAIN_MS = 5000;

export interface WatchLoopPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly membership: Membership;
  readonly ownership: Ownership;
  readonly sharing: StoreSharing;
  /** Whether this shard serves its share, as far as it may. */
  readonly updateReadiness: () => void;
  /** Runs after each scan of the members. */
  readonly lookAtClocks: () => Promise<void>;
  /** The current session. */
  readonly session: () => MembershipLease;
  /** While the shard stops, the rounds hand over its slots. */
  readonly stopping: () => boolean;
  readonly stopped: () => boolean;
  readonly onNeighboursChanged: () => void;
}

export class WatchLoop {
  readonly #ports: WatchLoopPorts;
  #neighbours: readonly MemberAddress[] = [];
  #scannedAtMs = Number.NEGATIVE_INFINITY;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #wake: (() => void) | undefined;
  #failing = false;

  constructor(ports: WatchLoopPorts) {
    this.#ports = ports;
  }

  /** The other living members, where fronts may look for the other slots. */
  get neighbours(): readonly MemberAddress[] {
    return this.#neighbours;
  }

  /** A member may have ended: scans at once, and often for about a second. */
  lookSoon(): void {
    const nowMs = this.#ports.clock.monotonicMs();
    if (nowMs - this.#lookedAtMs < LOOK_AGAIN_MS) return;
    this.#lookedAtMs = nowMs;
    this.#scannedAtMs = Number.NEGATIVE_INFINITY;
    this.#wake?.();
  }

  async run(): Promise<void> {
    const { log, ownership } = this.#ports;
    while (!this.#ports.stopped()) {
      const session = this.#ports.session();
      try {
        await this.#round(session);
        this.#failing = false;
      } catch (error) {
        if (!this.#failing) log.warn({ err: error }, 'cannot read members and slots; retrying');
        this.#failing = true;
      }
      const { incarnation } = this.#ports.session();
      await this.#pause(ownership.moving || this.#ports.stopping() ? MOVING_ROUND_MS : this.#scanMs(incarnation));
    }
  }

  #scanMs(incarnation: string): number {
    const { clock, membership } = this.#ports;
    return clock.monotonicMs() - this.#lookedAtMs < LOOK_MS ? LOOK_SCAN_MS : membership.scanMs(incarnation);
  }

  async #pause(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.#ports.clock.setTimer(resolve, delayMs);
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#wake = undefined;
  }

  async #round(session: MembershipLease): Promise<void> {
    const { clock, ownership } = this.#ports;
    const nowMs = clock.monotonicMs();
    const isDue = nowMs - this.#scannedAtMs >= this.#scanMs(session.incarnation);
    if (isDue || session.state === 'joining' || ownership.pace.awaitsScan(nowMs)) await this.#scan(session, nowMs);
    await ownership.round(session);
    this.#ports.updateReadiness();
  }

  async #scan(session: MembershipLease, nowMs: number): Promise<void> {
    const { membership, ownership, sharing } = this.#ports;
    this.#scannedAtMs = nowMs;
    await membership.scan();
    ownership.pace.scanned(nowMs);
    this.#updateNeighbours();
    await sharing.lookAfterMembers(session);
    await this.#ports.lookAtClocks();
  }

  #updateNeighbours(): void {
    const neighbours = this.#ports.membership.neighboursOf(this.#ports.session().incarnation);
    if (isDeepStrictEqual(neighbours, this.#neighbours)) return;
    this.#neighbours = neighbours;
    this.#ports.onNeighboursChanged();
  }
}
