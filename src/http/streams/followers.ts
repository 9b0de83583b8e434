// The followers of changes at this front: streams, and pages that wait. Invariants: a tenant has at most as many as its
// plan allows; if the front has as many as it takes, a tenant with fewer displaces a follower of the tenant with the
// most; a follower whose key has expired is stopped within half a second.

import { GrantdError } from '../../core/errors.ts';
import type { TenantSession } from '../../front/front.ts';
import { TOO_MANY_RETRY_SECONDS } from './stream-limits.ts';

/**
 * Why following ends: the client has gone; the key or the tenant is no longer served; the client does not keep up, or
 * those of its tenant do not; another tenant needs the place; the front is closing; the owner cannot be reached.
 */
export type FollowEnd = 'client' | 'key' | 'slow' | 'memory' | 'displaced' | 'draining' | 'failed';

export const FOLLOW_KINDS = ['ndjson', 'sse', 'page'] as const;
export type FollowKind = (typeof FOLLOW_KINDS)[number];

export interface Follower {
  readonly kind: FollowKind;
  readonly session: TenantSession;
  /** Idempotent. */
  stop(reason: FollowEnd): void;
}

const TOO_MANY = { details: { retryAfterSeconds: TOO_MANY_RETRY_SECONDS } };

export class Followers {
  /** In the order in which they came. */
  readonly #byTenant = new Map<string, Set<Follower>>();
  readonly #countMax: number;
  #count = 0;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  get count(): number {
    return this.#count;
  }

  *[Symbol.iterator](): Iterator<Follower> {
    for (const followers of this.#byTenant.values()) yield* followers;
  }

  /** Takes a place. Throws `too-many-streams`. */
  add(follower: Follower, tenantMax: number): void {
    const { tenantId } = follower.session;
    const own = this.#byTenant.get(tenantId);
    const ownCount = own?.size ?? 0;
    if (ownCount >= tenantMax) {
      throw new GrantdError('too-many-streams', `The tenant already has ${tenantMax} streams at this front.`, TOO_MANY);
    }
    if (this.#count >= this.#countMax && !this.#displace(ownCount)) {
      throw new GrantdError('too-many-streams', 'This front already has as many streams as it serves.', TOO_MANY);
    }
    this.#count += 1;
    if (own === undefined) this.#byTenant.set(tenantId, new Set([follower]));
    else own.add(follower);
  }

  remove(follower: Follower): void {
    const { tenantId } = follower.session;
    const own = this.#byTenant.get(tenantId);
    if (own?.delete(follower) !== true) return;
    this.#count -= 1;
    if (own.size === 0) this.#byTenant.delete(tenantId);
  }

  /** Stops the oldest follower of the tenant with the most; false: no tenant has enough more than `count`. */
  #displace(count: number): boolean {
    let most: ReadonlySet<Follower> | undefined;
    for (const followers of this.#byTenant.values()) if (followers.size > (most?.size ?? count + 1)) most = followers;
    const [oldest] = most ?? [];
    oldest?.stop('displaced');
    return oldest !== undefined;
  }

  stopExpired(): void {
    for (const follower of this) if (follower.session.expired) follower.stop('key');
  }
}
