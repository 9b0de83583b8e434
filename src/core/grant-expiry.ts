// The field `expires_at` of a new grant or key, in requests of both APIs. Only the owner of the tenant decides, by the
// time of its slot, whether the moment lies in the future.

import { GrantdError } from './errors.ts';
import { formatTimestamp, parseTimestamp } from './text/timestamps.ts';

const YEARS_MAX = 100;
/** A day more than that many years have. */
const EXPIRY_MS_MAX = (YEARS_MAX * 365.25 + 1) * 24 * 3_600_000;

/** The expiry that a request sets on a grant: absent keeps the present one; `null` removes it. */
export interface ExpiryRequest {
  readonly expiresAtMs?: number | null;
}

/**
 * Throws `invalid-request` unless the value is a moment within the next hundred years or so, null or absent. `field`:
 * the place of the value, for the message.
 */
export function parseExpiry(value: unknown, wallMs: number, field = 'expires_at'): ExpiryRequest {
  if (value === undefined) return {};
  if (value === null) return { expiresAtMs: null };
  const expiresAtMs = typeof value === 'string' ? parseTimestamp(value) : undefined;
  if (expiresAtMs === undefined) {
    throw new GrantdError(
      'invalid-request',
      `"${field}" must be an ISO 8601 timestamp with a time zone, such as 2030-01-31T12:00:00Z, or null.`,
    );
  }
  if (expiresAtMs - wallMs > EXPIRY_MS_MAX) {
    throw new GrantdError('invalid-request', `"${field}" must be within ${YEARS_MAX} years; it is not.`);
  }
  if (expiresAtMs <= 0) throw new GrantdError('invalid-request', expiryPassed(field));
  return { expiresAtMs };
}

export const expiryPassed = (field = 'expires_at'): string => `"${field}" must be a moment in the future; it is not.`;

/** The same, to a moment that lies in the future by the wall clock: it has passed by the time of the log alone. */
export function expiryPassedInLog(expiresAtMs: number, logMs: number, wallMs: number, field = 'expires_at'): string {
  if (expiresAtMs <= wallMs) return expiryPassed(field);
  const aheadBy = `ahead of the clock by ${Math.ceil((logMs - wallMs) / 1000)} s, because a clock was wrong`;
  return `"${field}" must be after the time of this tenant's log, ${formatTimestamp(logMs)}, which is ${aheadBy}.`;
}

/** The end of an API key; undefined: it never ends. Throws `invalid-request` for one that no clock can call future. */
export function keyExpiry(expiresAtMs: number | null | undefined): number | undefined {
  if (expiresAtMs === null || expiresAtMs === undefined) return undefined;
  if (expiresAtMs > 0) return expiresAtMs;
  throw new GrantdError('invalid-request', expiryPassed());
}

/** A revocation takes effect at once. */
export function refuseExpiry(value: unknown, field = 'expires_at'): void {
  if (value === undefined) return;
  throw new GrantdError('invalid-request', `"${field}" must not be given with a revocation.`);
}
