// A front in memory: the Front port over the operator's front in memory, with keys that are looked up, confirmed and
// refused as the port says. A key is verified with a promise the first time and at once afterwards.

import { createApiKey, parseApiKey } from '../../../src/core/api-keys.ts';
import type { Clock, Random } from '../../../src/core/async/clock.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import { IdFactory, type KeyId, type TenantId } from '../../../src/core/ids.ts';
import { ALL_SCOPES, type ScopeMask } from '../../../src/core/scopes.ts';
import type { Front, RequestContext, TenantSession } from '../../../src/front/front.ts';
import { ScriptedOperator } from '../../kit/scripted-operator.ts';
import { FakeChangeFeed } from './fake-change-feed.ts';

interface LiveKey {
  readonly tenantId: TenantId;
  readonly keyId: KeyId;
  readonly scopes: ScopeMask;
  readonly expiresAtMs: number | undefined;
}

const CONTEXT: RequestContext = { requestId: 'req_00000000000000000000000000', deadlineMs: Number.MAX_SAFE_INTEGER };

export class FakeFront implements Front {
  readonly operator: ScriptedOperator;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #ids: IdFactory;
  /** By the text of the key. */
  readonly #keys = new Map<string, LiveKey>();
  readonly #sessions = new Map<string, TenantSession>();
  /** Calls of `authenticate` that had to look a key up. */
  lookups = 0;
  /** Set by a test: what every lookup of a key fails with. */
  lookupFault: Error | undefined;
  /** Set by a test: every call to the owner waits for it. */
  gate: Promise<void> = Promise.resolve();

  readonly #feeds = new Map<string, FakeChangeFeed>();

  /** The changes of a tenant, all of which a test commits. */
  feedOf(tenantId: TenantId): FakeChangeFeed {
    const feed = this.#feeds.get(tenantId) ?? new FakeChangeFeed();
    this.#feeds.set(tenantId, feed);
    return feed;
  }

  constructor(clock: Clock, random: Random) {
    this.operator = new ScriptedOperator(clock, random);
    this.#clock = clock;
    this.#random = random;
    this.#ids = new IdFactory(clock, random);
  }

  /** A tenant and a key of it. */
  async createTenant(plan: string, scopes: ScopeMask = ALL_SCOPES): Promise<{ tenantId: TenantId; key: string }> {
    const { tenantId } = await this.operator.createTenant(CONTEXT, { name: 'test', plan, operator: 'test' });
    return { tenantId, key: this.createKey(tenantId, scopes) };
  }

  createKey(tenantId: TenantId, scopes: ScopeMask, expiresAtMs?: number): string {
    const keyId = this.#ids.create('key');
    const text = createApiKey({ tenantId, keyId }, this.#random);
    this.#keys.set(text, { tenantId, keyId, scopes, expiresAtMs });
    return text;
  }

  /** As if the owner had done it: sessions of the key that exist already find out at their next call. */
  revokeKeyText(text: string): void {
    this.#keys.delete(text);
  }

  async setState(tenantId: TenantId, state: 'active' | 'suspended'): Promise<void> {
    await this.operator.call('updateTenant', CONTEXT, { tenantId, state, operator: 'test' });
  }

  authenticate<Context extends RequestContext>(
    context: Context,
    apiKey: string,
    admit?: (context: Context, apiKey: string) => void,
  ): TenantSession | Promise<TenantSession> {
    if (parseApiKey(apiKey) === undefined) throw new GrantdError('unauthorized', 'The API key is not one.');
    const known = this.#sessions.get(apiKey);
    if (known !== undefined) return known;
    admit?.(context, apiKey);
    return this.#lookUp(context, apiKey);
  }

  ready(): boolean {
    return true;
  }

  async close(): Promise<void> {
    this.operator.stop();
  }

  async #lookUp(context: RequestContext, text: string): Promise<TenantSession> {
    this.lookups += 1;
    if (this.lookupFault !== undefined) throw this.lookupFault;
    const key = this.#requireLive(text);
    const owner = await this.operator.tenant(context, key.tenantId, 'test');
    const session = this.#guard(text, key, owner);
    this.#sessions.set(text, session);
    return session;
  }

  #requireLive(text: string): LiveKey {
    const key = this.#keys.get(text);
    if (key === undefined || (key.expiresAtMs !== undefined && key.expiresAtMs <= this.#clock.wallMs())) {
      this.#sessions.delete(text);
      throw new GrantdError('unauthorized', 'The API key is unknown, expired or revoked.');
    }
    return key;
  }

  /** The owner's session, behind the question whether the key and the tenant are still served. */
  #guard(text: string, key: LiveKey, owner: TenantSession): TenantSession {
    const enter = async (context: RequestContext): Promise<void> => {
      await this.gate;
      this.#requireLive(text);
      const { state } = await this.operator.call('readTenant', context, { tenantId: key.tenantId });
      if (state === 'suspended') throw new GrantdError('tenant-suspended', 'The tenant is suspended.');
    };
    const guarded =
      <Rest extends readonly unknown[], Result>(call: (context: RequestContext, ...rest: Rest) => Promise<Result>) =>
      async (context: RequestContext, ...rest: Rest): Promise<Result> => {
        await enter(context);
        return call(context, ...rest);
      };
    const feed = this.feedOf(key.tenantId);
    const clock = this.#clock;
    return {
      ...owner,
      get expired() {
        return key.expiresAtMs !== undefined && key.expiresAtMs <= clock.wallMs();
      },
      readChanges: guarded((context, query) => feed.readChanges(context, query)),
      followChanges: async (start, filter, follower) => {
        await enter(CONTEXT);
        return feed.followChanges(start, filter, follower);
      },
      keyId: key.keyId,
      scopes: key.scopes,
      call: async (name, context, request) => {
        await enter(context);
        if (name !== 'revokeKey') return owner.call(name, context, request);
        this.#revokeKey(key.tenantId, request);
        // The owner has only the keys that were created through it. Nothing is the answer of a revocation.
        return owner.call(name, context, request).catch(() => undefined as never);
      },
      confirm: guarded(owner.confirm),
      check: guarded(owner.check),
      checkBulk: guarded(owner.checkBulk),
      checkOrDeny: guarded(owner.checkOrDeny),
      createKey: guarded(async (context, request) => {
        const { record } = await owner.createKey(context, request);
        const parts = { tenantId: key.tenantId, keyId: record.keyId };
        const created = createApiKey(parts, this.#random);
        this.#keys.set(created, { ...parts, scopes: request.scopes, expiresAtMs: request.expiresAtMs });
        return { record, text: created };
      }),
    };
  }

  #revokeKey(tenantId: TenantId, keyId: unknown): void {
    const found = [...this.#keys].find(([, live]) => live.tenantId === tenantId && live.keyId === keyId);
    if (found === undefined) throw new GrantdError('key-not-found', 'The tenant has no live API key with this id.');
    this.#keys.delete(found[0]);
  }
}
