// All calls between a shard and its peers: one for each field of `Call`, which is a call of the shard's port. A field
// without a row here does not compile, and neither does a call of the port.

import type { CallName } from '../../shard/shard.ts';
import type { Call__Output } from '../gen/grantd/v1/Call.ts';
import { WireViolation } from '../wire-violation.ts';
import { changeCalls } from './changes.ts';
import { checkCalls } from './checks.ts';
import { clusterCalls } from './cluster.ts';
import type { CallField, DefinedCall } from './define-call.ts';
import { grantCalls } from './grants.ts';
import { handleCalls } from './handles.ts';
import { keyCalls } from './keys.ts';
import { listingCalls } from './listings.ts';
import { namespaceCalls } from './namespaces.ts';
import { readerCalls } from './readers.ts';
import { ruleCalls } from './rules.ts';
import { tenantCalls } from './tenants.ts';

export const CALLS = Object.freeze({
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
} satisfies { readonly [Name in CallName | CallField]: DefinedCall<Name> });

/** Any of them, as a server sees it. */
export type AnyCall = Pick<DefinedCall<CallName>, 'name' | 'costMs' | 'enumerates' | 'serve'>;

/** The call that a peer makes. Throws WireViolation. */
export function callOf({ request }: Call__Output): AnyCall {
  if (request === undefined) throw new WireViolation('A call lacks its request.');
  return CALLS[request];
}
