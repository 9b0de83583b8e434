// The numbers by which the memory of one tenant knows relations: the wire numbers of the built-in ones, then those of
// its own in the order in which they were met. Invariant: within a tenure, a number stands for one name for good, even
// after the relation was removed, since a page or a call in flight may still hold it.

import { assert } from '../../core/assert.ts';
import { RELATIONS, type Relation, relationNumber, relationOf } from '../../core/tuples.ts';

/**
 * Own relations that a tenant may declare in one tenure, all its rule sets together, the largest four times: sets of
 * names are bit masks, and so grow with the numbers.
 */
export const NAMES_PER_TENURE_MAX = 4000;
/** Numbers take this many bits: far more than rules may declare, since a recovery may meet names of earlier owners. */
export const RELATION_BITS = 16;

/** Estimated bytes of a name in both directions, without its characters. */
const NAME_BYTES = 150;

export class RelationNumbers {
  readonly #hold: (bytes: number) => void;
  /** From the number after the built-in ones on. Created at the first use, as the map: most tenants have none. */
  #names: Relation[] | undefined;
  #numbers: Map<string, number> | undefined;

  /** `hold`: counts bytes that are kept until the tenure ends. */
  constructor(hold: (bytes: number) => void) {
    this.#hold = hold;
  }

  /** Undefined: no grant of this name was met, and no rules that declare it were compiled. */
  find(relation: string): number | undefined {
    return relationNumber(relation) ?? this.#numbers?.get(relation);
  }

  /** Gives an own relation its number at its first use. Call it only for relations that are declared, or were. */
  of(relation: Relation): number {
    return this.find(relation) ?? this.#add(relation);
  }

  /** The numbers that `of` would give now, without giving any. */
  ahead(): (relation: Relation) => number {
    const given = this.#names?.length ?? 0;
    const added: Relation[] = [];
    return (relation) => {
      const known = this.find(relation);
      if (known !== undefined) return known;
      if (!added.includes(relation)) added.push(relation);
      return RELATIONS.length + given + added.indexOf(relation) + 1;
    };
  }

  #add(relation: Relation): number {
    this.#names ??= [];
    this.#numbers ??= new Map();
    const number = RELATIONS.length + this.#names.push(relation);
    assert(number < 2 ** RELATION_BITS, 'a relation number fits into its bits');
    this.#numbers.set(relation, number);
    this.#hold(NAME_BYTES + 2 * relation.length);
    return number;
  }

  nameOf(number: number): Relation {
    const name = relationOf(number) ?? this.#names?.[number - RELATIONS.length - 1];
    assert(name !== undefined, 'a relation number was given to a relation');
    return name;
  }

  /** Whether these, too, stay within what a tenant may declare in one tenure. */
  hasRoomFor(relations: readonly string[]): boolean {
    const added = relations.filter((relation) => this.find(relation) === undefined).length;
    return added === 0 || (this.#names?.length ?? 0) + added <= NAMES_PER_TENURE_MAX;
  }
}
