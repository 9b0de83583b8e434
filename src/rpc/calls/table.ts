// All calls between a shard and its peers: one for each call of the shard's port, without which this does not compile.
// Each is a field of `Call` in the proto file, which a test compares.

import type { CallName } from '../../shard/shard.ts';
import type { ReceivedCall } from '../messages.ts';
import { WireViolation } from '../wire-violation.ts';
import { changeCalls } from './changes.ts';
import { checkCalls } from './checks.ts';
import { clusterCalls } from './cluster.ts';
import type { DefinedCall } from './define-call.ts';
import { grantCalls } from './grants.ts';
import { handleCalls } from './handles.ts';
import { handoverCalls } from './handovers.ts';
import { keyCalls } from './keys.ts';
import { listingCalls } from './listings.ts';
import { namespaceCalls } from './namespaces.ts';
import { readerCalls } from './readers.ts';
import { ruleCalls } from './rules.ts';
import { tenantCalls } from './tenants.ts';

export const CALLS: { readonly [Name in CallName]: DefinedCall<Name> } = Object.freeze({
  ...handleCalls,
  ...checkCalls,
  ...grantCalls,
  ...listingCalls,
  ...namespaceCalls,
  ...keyCalls,
  ...ruleCalls,
  ...changeCalls,
  ...tenantCalls,
  ...clusterCalls,
  ...readerCalls,
  ...handoverCalls,
});

/** Any of them, as a server sees it. */
export type AnyCall = Pick<DefinedCall<CallName>, 'name' | 'costMs' | 'enumerates' | 'serve'>;

/** The call that a peer makes. Throws WireViolation. */
export function callOf({ request }: ReceivedCall): AnyCall {
  if (request === undefined) throw new WireViolation('A call lacks its request.');
  return CALLS[request];
}
