// Tuples that calls wait for: the checks of a bulk call, the lines of an import. A call watches each of its tuples from
// before it reads the store until its reply, and the tuple receives every commit in that time. So once all of them are
// known, they all hold at the same moment. Invariant: only tuples that calls in flight have named are watched, and a
// commit costs one lookup, however many calls watch.

import type { GrantAttributes } from '../../core/grant-attributes.ts';
import { StringMap } from '../../core/structures/string-map.ts';
import type { GrantPage } from './grant-page.ts';

/** Bytes of a watched tuple, without its characters in the call and in the key. */
const TUPLE_BYTES = 400;
/** A character in the call and in the key, at two bytes each. */
const BYTES_PER_CHARACTER = 4;

export const watchedBytes = (entity: string, counterpart: string): number =>
  TUPLE_BYTES + BYTES_PER_CHARACTER * (entity.length + counterpart.length);

export interface WatchedTuple {
  readonly entity: string;
  readonly relation: number;
  readonly counterpart: string;
  /** The current facts: the grant, or `null` if there is none. `undefined`: not known yet. */
  facts: GrantAttributes | null | undefined;
  /** The point read in flight for it. */
  read: Promise<void> | undefined;
  watchers: number;
}

/** Copies what a page knows of the tuple. */
export function takeFrom(page: GrantPage, tuple: WatchedTuple): void {
  if (tuple.facts === undefined) tuple.facts = page.find(tuple.relation, tuple.counterpart);
}

/** The parts contain no white space, so the key is unambiguous. */
export const watchedKey = (entity: string, relation: number, counterpart: string): string =>
  `${entity} ${relation} ${counterpart}`;

export class WatchedTuples {
  readonly #tuples = new StringMap<WatchedTuple>();

  get size(): number {
    return this.#tuples.size;
  }

  /** Watches a tuple until the matching `unwatch`. All watchers of a tuple share it. */
  watch(entity: string, relation: number, counterpart: string): WatchedTuple {
    const key = watchedKey(entity, relation, counterpart);
    let tuple = this.#tuples.get(key);
    if (tuple === undefined) {
      tuple = { entity, relation, counterpart, facts: undefined, read: undefined, watchers: 0 };
      this.#tuples.set(key, tuple);
    }
    tuple.watchers += 1;
    return tuple;
  }

  unwatch(tuple: WatchedTuple): void {
    tuple.watchers -= 1;
    if (tuple.watchers === 0) this.#tuples.delete(watchedKey(tuple.entity, tuple.relation, tuple.counterpart));
  }

  /** A commit: these facts hold from now on. */
  commit(entity: string, relation: number, counterpart: string, facts: GrantAttributes | null): void {
    if (this.#tuples.size === 0) return;
    const tuple = this.#tuples.get(watchedKey(entity, relation, counterpart));
    if (tuple !== undefined) tuple.facts = facts;
  }
}
