// What is to become of the expiry of a grant, in requests, both ways.

import type { GrantedTuple } from '../../../shard/shard.ts';
import { demand } from '../../wire-violation.ts';

/** The year 2300: beyond what any front lets through. */
const EXPIRY_MS_MAX = Date.UTC(2300, 0, 1);

type Expiry = Pick<GrantedTuple, 'expiresAtMs'>;

interface WireExpiry {
  readonly expiresAtMs: number;
  readonly permanent: boolean;
}

export const expiryToWire = ({ expiresAtMs }: Expiry): Partial<WireExpiry> => ({
  ...(typeof expiresAtMs === 'number' ? { expiresAtMs } : {}),
  ...(expiresAtMs === null ? { permanent: true } : {}),
});

export function expiryFrom({ expiresAtMs, permanent }: WireExpiry): Expiry {
  if (permanent) return { expiresAtMs: null };
  if (expiresAtMs === 0) return {};
  demand(expiresAtMs > 0 && expiresAtMs <= EXPIRY_MS_MAX, 'An expiry is out of bounds.');
  return { expiresAtMs };
}

export const demandNoExpiry = ({ expiresAtMs, permanent }: WireExpiry): void =>
  demand(expiresAtMs === 0 && !permanent, 'A revocation has no expiry.');
