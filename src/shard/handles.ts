// Handles of one connection: what a front holds in place of an authenticated key. A handle's number is never used
// again on the connection, it is good in its tenure only, and it dies with its key.

import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { GrantdError } from '../core/errors.ts';
import type { ScopeMask } from '../core/scopes.ts';
import { type HandleGrant, ShardFailure } from './shard.ts';
import type { HandleState, KeyUse, TenantMemory } from './tenant-memory.ts';
import type { Tenure } from './tenure.ts';

/** Handles of one connection; the longest known goes, and its front authenticates again. */
const HANDLES_MAX = 200_000;

export interface Handle extends HandleState {
  readonly tenure: Tenure;
  readonly memory: TenantMemory;
  /** Key id, or `operator:<name>`. */
  readonly actor: string;
  readonly suspended: boolean;
  readonly expiresAtMs: number | undefined;
  /** Undefined: the operator's. */
  readonly use: KeyUse | undefined;
}

export const sameHash = (left: string, right: string): boolean =>
  left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));

export const unauthorized = (): GrantdError => new GrantdError('unauthorized', 'The API key is not valid.');

export class HandleTable {
  readonly #clock: Clock;
  readonly #handles = new Map<number, Handle>();
  #lastHandle = 0;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  grant(
    of: Pick<Handle, 'tenure' | 'memory' | 'keyId' | 'actor' | 'use' | 'expiresAtMs'>,
    scopes: ScopeMask,
  ): HandleGrant {
    // Whoever asked is gone meanwhile: nobody would ever let go of the handle.
    if (this.#closed) throw new ShardFailure('handle-gone', 'The connection is closed.');
    const { tenant } = of.memory;
    const suspended = tenant.state === 'suspended' && of.use !== undefined;
    this.#lastHandle += 1;
    const handle: Handle = { ...of, suspended, dead: false };
    this.#handles.set(this.#lastHandle, handle);
    of.memory.addHandle(handle);
    if (this.#handles.size > HANDLES_MAX) {
      const [oldest] = this.#handles.keys();
      if (oldest !== undefined) this.#forget(oldest);
    }
    return {
      handle: this.#lastHandle,
      tenantId: tenant.tenantId,
      keyId: of.keyId,
      scopes,
      expiresAtMs: of.expiresAtMs,
      plan: tenant.plan,
      suspended,
    };
  }

  /** Empty where the handle is not known. */
  tenantOf(number: number): string {
    return this.#handles.get(number)?.memory.tenantId ?? '';
  }

  /** The handle, if a request under it may be served now. */
  use(number: number): Handle {
    const handle = this.#handles.get(number);
    if (handle === undefined) throw new ShardFailure('handle-gone', 'The handle is not known.');
    if (handle.dead) this.#handles.delete(number);
    this.assertGood(handle);
    return handle;
  }

  /** Of a handle in use: still good. To be asked after the last await. */
  assertGood(handle: Handle): void {
    if (handle.dead) throw new ShardFailure('handle-gone', 'The handle has ended.');
    handle.tenure.assertServing();
    const { use, expiresAtMs } = handle;
    if (use !== undefined) {
      const nowMs = this.#clock.wallMs();
      if (expiresAtMs !== undefined && expiresAtMs <= nowMs) throw unauthorized();
      use.usedAtMs = nowMs;
    }
    if (handle.suspended) {
      throw new GrantdError('tenant-suspended', 'The operator of the service has suspended this tenant.');
    }
  }

  close(): void {
    this.#closed = true;
    for (const number of this.#handles.keys()) this.#forget(number);
  }

  #forget(number: number): void {
    const handle = this.#handles.get(number);
    if (handle === undefined) return;
    handle.memory.removeHandle(handle);
    this.#handles.delete(number);
  }
}
