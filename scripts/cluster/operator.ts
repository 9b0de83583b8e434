// The operator's API as the cluster on this machine uses it: a demo tenant with a key, and the shard that serves it.

import { recordsOf, textOf } from '../../packages/cli/src/output/json-view.ts';
import { withRetries } from '../../packages/cli/src/retries.ts';
import { path, ServiceClient } from '../../packages/cli/src/service-client.ts';
import { slotOfTenant } from '../../src/core/slots.ts';

export interface Demo {
  readonly tenantId: string;
  readonly key: string;
}

/** A grant of the demo tenant, which the check loop checks. */
export const DEMO_TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' } as const;

export class ClusterOperator {
  readonly #client: ServiceClient;
  readonly #signal: AbortSignal;

  constructor(url: string, token: string, signal: AbortSignal) {
    this.#client = new ServiceClient({ api: 'operator', url, secret: token });
    this.#signal = signal;
  }

  #repeat<Result>(attempt: () => Promise<Result>): Promise<Result> {
    return withRetries(attempt, { signal: this.#signal, onRetry: () => {} });
  }

  /** A tenant without a limit on requests, one grant, and a key with every scope. */
  async createDemo(): Promise<Demo> {
    const tenant = await this.#client.readJson({
      method: 'POST',
      path: '/tenants',
      json: { name: 'demo', plan: 'unlimited' },
    });
    const tenantId = textOf(tenant, 'tenant_id');
    await this.#repeat(() =>
      this.#client.readJson({ method: 'POST', path: path`/tenants/${tenantId}/grants`, json: DEMO_TUPLE }),
    );
    const key = await this.#client.readJson({
      method: 'POST',
      path: path`/tenants/${tenantId}/keys`,
      json: { name: 'demo', scopes: ['check:read', 'grant:write', 'admin'] },
    });
    return { tenantId, key: textOf(key, 'key') };
  }

  /** The shard that serves the tenant now; undefined while none does. */
  async shardOf(tenantId: string): Promise<string | undefined> {
    const slots = await this.#slots();
    const slot = slots[slotOfTenant(tenantId, slots.length)];
    return slot?.state === 'serving' && typeof slot.shard === 'string' ? slot.shard : undefined;
  }

  /** Whether each of the shards serves a part of the slots, and together they serve all. */
  async areServed(shards: readonly string[]): Promise<boolean> {
    const slots = await this.#slots();
    const owners = new Set(slots.map(({ shard }) => shard));
    return slots.every(({ state }) => state === 'serving') && shards.every((name) => owners.has(name));
  }

  async #slots() {
    return recordsOf(await this.#repeat(() => this.#client.readJson({ method: 'GET', path: '/slots' })), 'slots');
  }
}
