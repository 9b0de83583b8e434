// A budget of bytes that requests hold in memory: a bound for the process, and a small share for each holder (a
// tenant), so that a few holders cannot use it up. A holder that would exceed its share waits, and is refused with
// `overloaded` at the end of the wait. If the process has no capacity, a holder that has more than the requesting one
// gives some of it back, if it can.

import type { Clock, Timer } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import { GrantdError } from '../../core/errors.ts';

export interface ByteBudgetBounds {
  readonly bytesMax: number;
  /** For one holder. A single reservation above this is never granted. */
  readonly holderBytesMax: number;
  readonly waitMs: number;
}

export interface ByteBudgetMeter {
  waited(): void;
  refused(): void;
  dropped(): void;
}

export interface Reservation {
  /** Ends the holder's use of the bytes and releases them, at once; undefined: it cannot be ended now. */
  drop: (() => void) | undefined;
  /**
   * Corrects the size to the bytes really held: gives back surplus bytes, and counts additional ones without a wait.
   */
  resize(bytes: number): void;
  /** Gives back all bytes. Idempotent. */
  release(): void;
}

interface PendingReservation {
  readonly bytes: number;
  readonly timer: Timer;
  readonly admit: (reservation: Reservation) => void;
}

interface Holder {
  readonly name: string;
  bytes: number;
  readonly reservations: Set<HeldReservation>;
  /** First come, first served. */
  readonly waiting: Set<PendingReservation>;
}

const REFUSAL =
  'The requests of this tenant already take up their share of the memory of this process. Nothing was changed.';

/** Other holders that one release serves, so that it takes a bounded time; the next release serves others. */
const HOLDERS_SERVED_PER_RELEASE = 16;

export class ByteBudget {
  readonly #clock: Clock;
  readonly #turns: Turns;
  readonly #meter: ByteBudgetMeter;
  readonly #bounds: ByteBudgetBounds;
  readonly #holders = new Map<string, Holder>();
  /** Holders with a waiting request; the one served last is at the end. */
  readonly #waitingHolders = new Set<Holder>();
  #heldBytes = 0;
  #serving = false;

  constructor(
    { clock, turns, meter }: { readonly clock: Clock; readonly turns: Turns; readonly meter: ByteBudgetMeter },
    bounds: ByteBudgetBounds,
  ) {
    this.#clock = clock;
    this.#turns = turns;
    this.#meter = meter;
    this.#bounds = bounds;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Calls either `admit`, at once if there is capacity, or `refuse`, once. Returns a function that gives up waiting.
   */
  reserve(
    name: string,
    bytes: number,
    admit: (reservation: Reservation) => void,
    refuse: (error: GrantdError) => void,
  ): () => void {
    let holder = this.#holders.get(name);
    if (holder === undefined) {
      holder = { name, bytes: 0, reservations: new Set(), waiting: new Set() };
      this.#holders.set(name, holder);
    }
    if (holder.waiting.size === 0 && this.#hasCapacity(holder, bytes)) {
      admit(this.#take(holder, bytes));
      return () => {};
    }
    return this.#wait(holder, bytes, admit, refuse);
  }

  #wait(
    holder: Holder,
    bytes: number,
    admit: (reservation: Reservation) => void,
    refuse: (error: GrantdError) => void,
  ): () => void {
    this.#meter.waited();
    let abandoned = false;
    const stopWaiting = (): void => {
      waiting.timer.cancel();
      holder.waiting.delete(waiting);
      if (holder.waiting.size === 0) this.#waitingHolders.delete(holder);
      this.#forgetIfUnused(holder);
    };
    const waiting: PendingReservation = {
      bytes,
      // Either outcome takes its turn: hundreds of waits may end at once, and a response that a client has taken must
      // not trigger the next one in the same turn, and so on.
      timer: this.#clock.setTimer(() => {
        stopWaiting();
        this.#meter.refused();
        this.#turns.run(holder.name, () => {
          if (!abandoned) refuse(new GrantdError('overloaded', REFUSAL));
          return false;
        });
      }, this.#bounds.waitMs),
      admit: (reservation) => {
        stopWaiting();
        this.#turns.run(holder.name, () => {
          if (abandoned) reservation.release();
          else admit(reservation);
          return false;
        });
      },
    };
    holder.waiting.add(waiting);
    this.#waitingHolders.add(holder);
    return () => {
      abandoned = true;
      stopWaiting();
    };
  }

  #hasCapacity(holder: Holder, bytes: number): boolean {
    const { bytesMax, holderBytesMax } = this.#bounds;
    if (holder.bytes + bytes > holderBytesMax) return false;
    while (this.#heldBytes + bytes > bytesMax) {
      const dropped = this.#largestDroppable(holder.bytes + bytes);
      if (dropped === undefined) return false;
      this.#meter.dropped();
      dropped();
    }
    return true;
  }

  /**
   * Returns the `drop` of the oldest reservation that can be ended, of the largest holder that has one and more than
   * `bytes`.
   */
  #largestDroppable(bytes: number): (() => void) | undefined {
    let most = bytes;
    let largest: (() => void) | undefined;
    for (const holder of this.#holders.values()) {
      if (holder.bytes <= most) continue;
      for (const { drop } of holder.reservations) {
        if (drop === undefined) continue;
        most = holder.bytes;
        largest = drop;
        break;
      }
    }
    return largest;
  }

  #take(holder: Holder, bytes: number): Reservation {
    const reservation = new HeldReservation(bytes, (given, all) => {
      this.#heldBytes -= given;
      holder.bytes -= given;
      if (all) holder.reservations.delete(reservation);
      this.#serve(holder);
      this.#forgetIfUnused(holder);
    });
    this.#heldBytes += bytes;
    holder.bytes += bytes;
    holder.reservations.add(reservation);
    return reservation;
  }

  /**
   * Serves the requests of `released` first, then some others. An admitted request may give back bytes at once, which
   * this call serves too.
   */
  #serve(released: Holder): void {
    if (this.#serving || this.#waitingHolders.size === 0) return;
    this.#serving = true;
    try {
      this.#serveHolder(released);
      for (let count = 0; count < HOLDERS_SERVED_PER_RELEASE; count += 1) {
        const [holder] = this.#waitingHolders;
        if (holder === undefined) break;
        this.#waitingHolders.delete(holder);
        this.#waitingHolders.add(holder);
        this.#serveHolder(holder);
      }
    } finally {
      this.#serving = false;
    }
  }

  #serveHolder(holder: Holder): void {
    for (const { bytes, admit } of holder.waiting) {
      if (!this.#hasCapacity(holder, bytes)) return;
      admit(this.#take(holder, bytes));
    }
  }

  #forgetIfUnused(holder: Holder): void {
    if (holder.reservations.size > 0 || holder.waiting.size > 0 || this.#holders.get(holder.name) !== holder) return;
    this.#holders.delete(holder.name);
  }
}

class HeldReservation implements Reservation {
  drop: (() => void) | undefined = undefined;
  readonly #giveBack: (bytes: number, all: boolean) => void;
  #bytes: number;
  #released = false;

  constructor(bytes: number, giveBack: (bytes: number, all: boolean) => void) {
    this.#bytes = bytes;
    this.#giveBack = giveBack;
  }

  resize(bytes: number): void {
    if (this.#released) return;
    const given = this.#bytes - bytes;
    this.#bytes = bytes;
    this.#giveBack(given, false);
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#giveBack(this.#bytes, true);
  }
}
