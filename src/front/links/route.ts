// The way to the owner of a slot: a tenure on a connection. Invariant: a route that differs in anything is another
// object.

import type { ShardLink } from './shard-link.ts';

export interface Route {
  readonly slot: number;
  readonly epoch: number;
  readonly link: ShardLink;
}

/** A handle, and the route over which it was acquired; 0 if none is needed. */
export interface Binding {
  readonly route: Route;
  readonly handle: number;
  /** The handle is at a reader, so the route is not to the owner. */
  readonly isAtReader?: true;
}
