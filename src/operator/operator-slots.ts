// Places for what a console has open for operators only a few times, such as downloads. Invariant: no operator holds
// more than a share of them, however slowly it reads, so that others find room.

import { GrantdError } from '../core/errors.ts';

export interface SlotBounds {
  /** For messages: `downloads of the audit log`. */
  readonly what: string;
  readonly slotsMax: number;
  readonly slotsPerOperatorMax: number;
}

export class OperatorSlots {
  readonly #bounds: SlotBounds;
  /** The operator of each slot that is taken. */
  readonly #holders: string[] = [];

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
  }

  /** Throws `overloaded` if there is no slot for the operator now. */
  demandRoom(operator: string): void {
    const { what, slotsMax, slotsPerOperatorMax } = this.#bounds;
    const own = this.#holders.filter((holder) => holder === operator).length;
    if (own >= slotsPerOperatorMax) {
      throw new GrantdError('overloaded', `You have ${own} ${what} open already. Wait until one has ended.`);
    }
    if (this.#holders.length >= slotsMax) throw new GrantdError('overloaded', `Too many ${what} are open.`);
  }

  /** Takes a slot until it is disposed of. Throws `overloaded`. */
  take(operator: string): Disposable {
    this.demandRoom(operator);
    this.#holders.push(operator);
    return { [Symbol.dispose]: () => void this.#holders.splice(this.#holders.indexOf(operator), 1) };
  }
}
