// The way to the owner of a slot: a tenure on a connection. Invariant: a route that differs in anything is another
// object.

import type { TryFailure } from '../../rpc/links/stream-link.ts';
import type { ShardLink } from './shard-link.ts';

export interface Route {
  readonly slot: number;
  readonly epoch: number;
  readonly link: ShardLink;
}

/** A shard that answers reads beside the owner, as a flight sees it. */
export interface AskedReader {
  /** It has failed a read, which the owner is asked instead. */
  failed(failure: TryFailure): void;
}

/** A handle, and the route over which it was acquired; 0 if none is needed. */
export interface Binding {
  readonly route: Route;
  readonly handle: number;
  /** The handle is at this reader, so the route is not to the owner. */
  readonly reader?: AskedReader;
}
