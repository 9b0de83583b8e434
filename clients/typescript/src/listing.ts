// Listings: read page by page, or as one iteration over all pages. Invariant: an iteration ends, or throws; a page that
// leads to itself is an error.

import { knownMembers } from './members.ts';
import { invalidResponse } from './responses.ts';
import type { CallOptions } from './transport.ts';

export interface Page<T> {
  readonly items: readonly T[];
  /** For the next page; null at the end. A page may be empty although it has one. */
  readonly cursor: string | null;
}

export type PageReader<T, P extends Page<T>> = (cursor: string | undefined, options: CallOptions) => Promise<P>;

/** Reads pages on demand, one at a time, each with the timeout of a call. */
export class Listing<T, P extends Page<T> = Page<T>> implements AsyncIterable<T> {
  readonly #read: PageReader<T, P>;
  readonly #options: CallOptions;

  constructor(read: PageReader<T, P>, options: CallOptions) {
    this.#read = read;
    this.#options = options;
  }

  /** The first page, or the page of the given cursor. */
  async page(place: { readonly cursor?: string | undefined } = {}): Promise<P> {
    const { cursor } = knownMembers(place, { cursor: true });
    return this.#read(cursor, this.#options);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let cursor: string | undefined;
    for (;;) {
      const page = await this.page({ cursor });
      yield* page.items;
      if (page.cursor === null) return;
      if (page.cursor === cursor) throw invalidResponse(200, 'The cursor of a page leads to the same page.');
      cursor = page.cursor;
    }
  }
}
