// What a shard announces to one peer about its routes: everything once, and from then on what has changed, in order, on
// the same stream. Invariant: after each message, the receiver has exactly the routes that the sender had.

import { SLOTS_MAX } from '../core/slots.ts';
import type { MemberAddress, Routes } from '../shard/shard.ts';
import type { ReceivedRoutes, RoutesMessage } from './messages.ts';

const sameMembers = (left: readonly MemberAddress[], right: readonly MemberAddress[]): boolean =>
  left.length === right.length &&
  left.every(({ shardName, address }, index) => {
    const other = right[index];
    return shardName === other?.shardName && address === other.address;
  });

/** The shard's side of one stream. */
export class RouteAnnouncer {
  readonly #epochs = new Map<number, number>();
  #members: readonly MemberAddress[] | undefined;

  /** Announces these routes. */
  next({ epochs, members = [] }: Routes): RoutesMessage {
    const changed = [...epochs].filter(([slot, epoch]) => this.#epochs.get(slot) !== epoch);
    const removed = [...this.#epochs.keys()].filter((slot) => !epochs.has(slot));
    const isChange = this.#members !== undefined;
    const isSame = this.#members !== undefined && sameMembers(this.#members, members);
    for (const [slot, epoch] of changed) this.#epochs.set(slot, epoch);
    for (const slot of removed) this.#epochs.delete(slot);
    this.#members = [...members];
    return {
      slots: changed.map(([slot]) => slot),
      epochs: changed.map(([, epoch]) => epoch),
      isChange,
      removed,
      sameMembers: isSame,
      members: isSame ? [] : [...members],
    };
  }
}

/** A message about routes, applied. */
export interface LinkRoutes {
  /** What the shard serves now, epochs by slot. It changes with the next message. */
  readonly epochs: ReadonlyMap<number, number>;
  /** The slots that the message is about; each once. */
  readonly changed: readonly number[];
  /** The other members that the shard knows; undefined: the same as before. */
  readonly members: readonly MemberAddress[] | undefined;
}

/** The peer's side of one stream. */
export class AnnouncedRoutes {
  readonly #epochs = new Map<number, number>();
  #members: readonly MemberAddress[] = [];

  /** Everything that was announced, as one message. */
  get whole(): LinkRoutes {
    return { epochs: this.#epochs, changed: [...this.#epochs.keys()], members: this.#members };
  }

  /** Slots that no cluster has are ignored. */
  take({ slots, epochs, isChange, removed, sameMembers: isSame, members }: ReceivedRoutes): LinkRoutes {
    const changed = new Set(isChange ? removed : this.#epochs.keys());
    for (const slot of changed) this.#epochs.delete(slot);
    for (const [index, slot] of slots.entries()) {
      if (slot >= SLOTS_MAX) continue;
      this.#epochs.set(slot, epochs[index] ?? 0);
      changed.add(slot);
    }
    if (!isSame) this.#members = members;
    return { epochs: this.#epochs, changed: [...changed], members: isSame ? undefined : members };
  }
}
