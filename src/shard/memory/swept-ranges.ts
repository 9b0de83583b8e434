// The progress of filtered revocations on large entities. Their tombstone rows remain for a while; without this, each
// call would read those of all calls before it. Invariant: up to the recorded place of an entity, no matching grant
// exists; a new grant of the entity deletes its record. A record may be dropped at any time.

import type { Relation } from '../../core/tuples.ts';
import type { PagePlace } from './grant-page.ts';

/** Entities of a tenant; beyond, the one that was swept first is forgotten. */
const ENTITIES_MAX = 64;

export class SweptRanges {
  /** By entity and relation; `undefined`: all relations. */
  readonly #places = new Map<string, Map<Relation | undefined, PagePlace>>();

  get(entity: string, relation: Relation | undefined): PagePlace | undefined {
    return this.#places.get(entity)?.get(relation);
  }

  set(entity: string, relation: Relation | undefined, upTo: PagePlace): void {
    const places = this.#places.get(entity) ?? new Map<Relation | undefined, PagePlace>();
    places.set(relation, upTo);
    this.#places.set(entity, places);
    const [oldest] = this.#places.size > ENTITIES_MAX ? this.#places.keys() : [];
    if (oldest !== undefined) this.#places.delete(oldest);
  }

  delete(entity: string): void {
    this.#places.delete(entity);
  }
}
