// The use of a store by a shard: among other members, or alone. All differences between the two are here: the lease,
// the start and the stop, and the watch over members.
//
// With the embedded store one process owns the data directory, enforced by a lock, so only its incarnations can be
// alive. `retireMembers` declares dead what an earlier run left behind, and no lease has to fence it.

import { type Clock, delay } from '../../core/async/clock.ts';
import type { MemberStore } from '../../store/store.ts';
import { storeDeadline } from '../store-calls.ts';
import { MOVING_ROUND_MS } from './handover-pace.ts';
import type { HealthWatch } from './health.ts';
import type { Membership } from './membership.ts';
import { LastingLease, type Lease, type MembershipLease, RenewedLease } from './membership-lease.ts';
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
  /** No other shard can come, so the shard waits for none. */
  readonly alone: boolean;
  /** For a session that is about to join. */
  createLease(): Lease;
  /** Runs before the first round. Rejects if the shard cannot serve as required. */
  start(): Promise<void>;
  /** Runs after each scan of the members. */
  lookAfterMembers(session: MembershipLease): Promise<void>;
  /** Runs before the remaining slots are released without a successor. */
  drain(session: MembershipLease): Promise<void>;
  /** Runs after the session has left. */
  forget(session: MembershipLease): Promise<void>;
  /** Runs while metrics are rendered. */
  report(): void;
}

export const createSharing = (ports: SharingPorts, { exclusive }: { readonly exclusive: boolean }): StoreSharing =>
  exclusive ? new ExclusiveStore(ports) : new SharedStore(ports);

/** The slots of this shard go to others if it is unhealthy, silent or leaves, and theirs go to this one. */
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

  /** The rounds continue and hand over the slots. A slot that no other shard can take is released. */
  async drain(session: MembershipLease): Promise<void> {
    const { clock } = this.#ports;
    const ownership = this.#ports.ownership();
    session.drain();
    ownership.pace.leave(clock.monotonicMs());
    while (!session.ended && ownership.tenures.size > 0) await delay(clock, MOVING_ROUND_MS);
  }

  /** The row stays for a while, so that other members do not mistake this member for one that never existed. */
  async forget(): Promise<void> {}

  report(): void {
    this.#ports.health.report();
  }
}

/** A shard that has its store alone could not open all slots. The cause is the first failure. */
export class UnopenedSlots extends Error {
  readonly slots: number;

  constructor(slots: number, cause: unknown) {
    super(`Cannot open ${slots} slots; see the log for the reasons.`, { cause });
    this.name = 'UnopenedSlots';
    this.slots = slots;
  }
}

/** The shard owns all slots, as there is no other; failing to open one is an error. */
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
      if (failures > 0) throw new UnopenedSlots(failures, ownership.firstFailure);
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
