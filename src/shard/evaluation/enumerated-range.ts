// Counterparts of one relation of an entity without a whole page, read from the state tables. There may be many, so
// only their texts are kept, and the attributes of contingent grants. Invariant: that of the reader of ranges
// (memory/grant-range.ts).

import { attributesOf, type GrantAttributes, isContingent } from '../../core/grant-attributes.ts';
import type { Relation } from '../../core/tuples.ts';
import type { PageRow } from '../memory/grant-page.ts';
import type { GrantPages } from '../memory/grant-pages.ts';
import { RangeRead } from '../memory/grant-range.ts';
import { bytesOfText } from '../memory/tuple-text.ts';

/** Estimated bytes of a string in a list, without its characters. */
const TEXT_BYTES = 40;

export class EnumeratedRange extends RangeRead {
  readonly #relation: number;
  readonly #fits: (counterpart: string) => boolean;
  readonly #texts: string[] = [];
  /** The attributes of those whose grants are contingent. */
  readonly #contingent = new Map<string, GrantAttributes>();

  /** A bound ended the read: there are more. */
  isPart = false;

  /** `fits`: only these counterparts, all of which begin with the prefix. */
  constructor(
    pages: GrantPages,
    entity: string,
    relation: Relation,
    fits: (counterpart: string) => boolean,
    prefix: string,
  ) {
    const from = prefix === '' ? {} : { prefix, after: { relation, counterpart: prefix } };
    super(pages, { entity, relation, ...from });
    this.#relation = pages.relations.of(relation);
    this.#fits = fits;
  }

  /** The number that was read. */
  get size(): number {
    return this.#texts.length;
  }

  protected override keep(rows: readonly PageRow[]): void {
    for (const row of rows) {
      const { counterpart } = row;
      if (!this.#fits(counterpart)) continue;
      this.#texts.push(counterpart);
      if (isContingent(row)) this.#contingent.set(counterpart, attributesOf(row));
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
    if (changed.size === 0 && this.#contingent.size === 0) return this.#texts;
    const current = this.#texts.filter((text) => {
      if (changed.has(text)) return false;
      const facts = this.#contingent.get(text);
      return facts === undefined || keeps(facts);
    });
    for (const [text, facts] of changed) if (facts !== null && keeps(facts)) current.push(text);
    return current;
  }

  /** Those that exist now, each with its attributes if its grant is contingent. Undefined as above. */
  now(): Map<string, GrantAttributes | undefined> | undefined {
    const changed = this.#changed();
    if (changed === undefined) return undefined;
    const now = new Map(this.#texts.map((text) => [text, this.#contingent.get(text)]));
    for (const [text, facts] of changed) {
      if (facts === null) now.delete(text);
      else now.set(text, isContingent(facts) ? facts : undefined);
    }
    return now;
  }

  #changed(): ReadonlyMap<string, GrantAttributes | null> | undefined {
    if (this.hasChanged) return undefined;
    const changed = new Map<string, GrantAttributes | null>();
    for (const { relation, counterpart, facts } of this.delta.changes()) {
      if (relation === this.#relation && this.#fits(counterpart)) changed.set(counterpart, facts);
    }
    return changed;
  }
}
