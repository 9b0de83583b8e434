// Tuples that calls wait for: the checks of a bulk, the lines of an import. A call watches each of its tuples from
// before it asks the store until it is answered, and every commit meanwhile is told to the tuple; so once each of them
// is known, all of them hold at that one moment. It is kept: what is watched is no more than what the calls in flight
// have named, and a commit costs one lookup, however many watch.

import type { GrantAttributes } from '../../core/grant-attributes.ts';
import { StringMap } from '../../core/structures/string-map.ts';
import type { SubjectPage } from './subject-page.ts';

/** Bytes of a watched tuple besides its characters, which are those of the call and of the key. */
const TUPLE_BYTES = 400;
/** A character, in the call and in the key, at two bytes each. */
const BYTES_PER_CHARACTER = 4;

export const watchedBytes = (subject: string, object: string): number =>
  TUPLE_BYTES + BYTES_PER_CHARACTER * (subject.length + object.length);

export interface WatchedTuple {
  readonly subject: string;
  readonly relation: number;
  readonly object: string;
  /** What holds now: the grant, `null` where there is none. `undefined`: not known yet. */
  facts: GrantAttributes | null | undefined;
  /** The point read in flight for it. */
  read: Promise<void> | undefined;
  watchers: number;
}

/** Takes what a page knows of it. */
export function takeFrom(page: SubjectPage, tuple: WatchedTuple): void {
  if (tuple.facts === undefined) tuple.facts = page.find(tuple.relation, tuple.object);
}

/** The parts hold no white space, so the key is unambiguous. */
const keyOf = (subject: string, relation: number, object: string): string => `${subject} ${relation} ${object}`;

export class WatchedTuples {
  readonly #tuples = new StringMap<WatchedTuple>();

  get size(): number {
    return this.#tuples.size;
  }

  /** Until the matching `unwatch`. One for all who watch the same. */
  watch(subject: string, relation: number, object: string): WatchedTuple {
    const key = keyOf(subject, relation, object);
    let tuple = this.#tuples.get(key);
    if (tuple === undefined) {
      tuple = { subject, relation, object, facts: undefined, read: undefined, watchers: 0 };
      this.#tuples.set(key, tuple);
    }
    tuple.watchers += 1;
    return tuple;
  }

  unwatch(tuple: WatchedTuple): void {
    tuple.watchers -= 1;
    if (tuple.watchers === 0) this.#tuples.delete(keyOf(tuple.subject, tuple.relation, tuple.object));
  }

  /** What was committed holds from now on. */
  commit(subject: string, relation: number, object: string, facts: GrantAttributes | null): void {
    if (this.#tuples.size === 0) return;
    const tuple = this.#tuples.get(keyOf(subject, relation, object));
    if (tuple !== undefined) tuple.facts = facts;
  }
}
