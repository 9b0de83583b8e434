// How a shard lives on its store: among other members, or alone. What differs between the two stands here and nowhere
// else: the lease, how the shard starts and stops, and whom it looks after.
//
// On the embedded store one process owns the data directory (a lock says so), so its incarnations are the only ones
// that can be alive: `retireMembers` declares dead whatever an earlier run left, and no lease has to fence it.

import { type Clock, delay } from '../../core/async/clock.ts';
import type { MemberStore } from '../../store/store.ts';
import { storeDeadline } from '../store-calls.ts';
import { MOVING_ROUND_MS } from './handover-pace.ts';
import type { HealthWatch } from './health-watch.ts';
import { LastingLease, type Lease, RenewedLease } from './lease.ts';
import type { Membership } from './membership.ts';
import type { MembershipLease } from './membership-lease.ts';
import type { Ownership } from './ownership.ts';
import type { Readiness } from './readiness.ts';

export interface SharingPorts {
  readonly store: MemberStore;
  readonly clock: Clock;
  readonly membership: Membership;
  readonly health: HealthWatch;
  readonly readiness: Readiness;
  readonly ownership: () => Ownership;
  readonly session: () => MembershipLease;
  readonly running: () => boolean;
  readonly leaseMs: number;
}

export interface StoreSharing {
  /** Nobody else may come: nobody is waited for. */
  readonly alone: boolean;
  /** For a session that is about to join. */
  createLease(): Lease;
  /** Before the first round. Rejects where the shard cannot serve as it has to. */
  start(): Promise<void>;
  /** After each scan of the members. */
  lookAfterMembers(session: MembershipLease): Promise<void>;
  /** Before the slots that are left are released to nobody in particular. */
  drain(session: MembershipLease): Promise<void>;
  /** After the session has left. */
  forget(session: MembershipLease): Promise<void>;
  /** While metrics are rendered. */
  report(): void;
}

export const createSharing = (ports: SharingPorts, { exclusive }: { readonly exclusive: boolean }): StoreSharing =>
  exclusive ? new ExclusiveStore(ports) : new SharedStore(ports);

/** Its slots go to others when it is unhealthy, silent or leaves, as theirs come to it. */
class SharedStore implements StoreSharing {
  readonly alone = false;
  readonly #ports: SharingPorts;

  constructor(ports: SharingPorts) {
    this.#ports = ports;
  }

  createLease(): Lease {
    return new RenewedLease(this.#ports.clock, this.#ports.leaseMs);
  }

  async start(): Promise<void> {
    void this.#ports.health.run();
  }

  async lookAfterMembers(session: MembershipLease): Promise<void> {
    if (!session.leaseValid) return;
    await this.#ports.membership.declareSilent(session);
    await this.#ports.membership.removeDead(session);
  }

  /** The rounds go on, and hand the slots over; where nobody is there to take them, they are released. */
  async drain(session: MembershipLease): Promise<void> {
    const { clock } = this.#ports;
    const ownership = this.#ports.ownership();
    session.drain();
    ownership.pace.leave(clock.monotonicMs());
    while (!session.ended && ownership.tenures.size > 0) await delay(clock, MOVING_ROUND_MS);
  }

  /** Its row stays for a while, so that nobody mistakes it for one that never was. */
  async forget(): Promise<void> {}

  report(): void {
    this.#ports.health.report();
  }
}

/** Nobody is there to take its slots, so that all of them are its own, and one that cannot be opened is an error. */
class ExclusiveStore implements StoreSharing {
  readonly alone = true;
  readonly #ports: SharingPorts;

  constructor(ports: SharingPorts) {
    this.#ports = ports;
  }

  createLease(): Lease {
    return new LastingLease();
  }

  async start(): Promise<void> {
    const { membership, readiness, session, running } = this.#ports;
    const ownership = this.#ports.ownership();
    await membership.scan();
    const before = ownership.failures;
    while (running() && !readiness.ready) {
      await ownership.round(session());
      await ownership.idle();
      const failures = ownership.failures - before;
      if (failures > 0) throw new Error(`${failures} slots could not be opened; the log says why.`);
      readiness.update(ownership);
    }
  }

  async lookAfterMembers(): Promise<void> {}

  async drain(): Promise<void> {}

  async forget({ incarnation }: MembershipLease): Promise<void> {
    const { store, clock } = this.#ports;
    await store.removeMember(incarnation, storeDeadline(clock));
  }

  report(): void {}
}
