// The other ends of the grants of one relation of an entity that is too large for a whole page, as they were read from
// the state tables. Invariant: evaluated under the delta that was opened before the read, they are the current ones.

import { attributesOf, type GrantAttributes } from '../../core/grant-attributes.ts';
import { CHANGES_MAX, type GrantDelta } from '../memory/grant-deltas.ts';
import { bytesOfText, type PageRow } from '../memory/grant-page.ts';

/** Estimated bytes of a string in a list, without its characters. */
const TEXT_BYTES = 40;

export class EnumeratedRange {
  readonly #relation: number;
  readonly #delta: GrantDelta;
  readonly #fits: (counterpart: string) => boolean;
  readonly #texts: string[] = [];
  /** The attributes of those that expire. */
  readonly #expiring = new Map<string, GrantAttributes>();
  /** Estimated bytes. */
  bytes = 0;
  /** A bound ended the read: there are more. */
  isPart = false;

  /** `delta`: opened before the first read. `fits`: only these counterparts. */
  constructor(relation: number, delta: GrantDelta, fits: (counterpart: string) => boolean) {
    this.#relation = relation;
    this.#delta = delta;
    this.#fits = fits;
  }

  /** As they were read. */
  get size(): number {
    return this.#texts.length;
  }

  add(rows: readonly PageRow[]): void {
    for (const row of rows) {
      const { counterpart } = row;
      if (!this.#fits(counterpart)) continue;
      this.#texts.push(counterpart);
      if (row.expiresAtMs !== undefined) this.#expiring.set(counterpart, attributesOf(row));
      this.bytes += TEXT_BYTES + bytesOfText(counterpart);
    }
  }

  /**
   * Those that exist now and that `keeps` keeps, in no order. Undefined: too much was committed since the read to
   * examine in one step.
   */
  current(keeps: (facts: GrantAttributes) => boolean): readonly string[] | undefined {
    const changed = this.#changed();
    if (changed === undefined) return undefined;
    if (changed.size === 0 && this.#expiring.size === 0) return this.#texts;
    const current = this.#texts.filter((text) => {
      if (changed.has(text)) return false;
      const facts = this.#expiring.get(text);
      return facts === undefined || keeps(facts);
    });
    for (const [text, facts] of changed) if (facts !== null && keeps(facts)) current.push(text);
    return current;
  }

  /** Those that exist now, each with its attributes if it expires. Undefined as above. */
  now(): Map<string, GrantAttributes | undefined> | undefined {
    const changed = this.#changed();
    if (changed === undefined) return undefined;
    const now = new Map(this.#texts.map((text) => [text, this.#expiring.get(text)]));
    for (const [text, facts] of changed) {
      if (facts === null) now.delete(text);
      else now.set(text, facts.expiresAtMs === undefined ? undefined : facts);
    }
    return now;
  }

  #changed(): ReadonlyMap<string, GrantAttributes | null> | undefined {
    if (this.#delta.size > CHANGES_MAX) return undefined;
    const changed = new Map<string, GrantAttributes | null>();
    for (const { relation, counterpart, facts } of this.#delta.changes()) {
      if (relation === this.#relation && this.#fits(counterpart)) changed.set(counterpart, facts);
    }
    return changed;
  }
}
