// Makes the changes, tenant by tenant. Every step is idempotent: after a failure, the same command continues where this
// one stopped.

import { randomUUID } from 'node:crypto';
import { type RuleSet, revisionOf } from '../../../../src/rules/rule-set.ts';
import { CliFailure, EXIT, ProblemFailure } from '../failures.ts';
import { type JsonRecord, textOf } from '../output/json-view.ts';
import { type RetryOptions, withRetries } from '../retries.ts';
import { path, type ServiceClient } from '../service-client.ts';
import { bodyOf, putTenantRules, readTenantRules } from '../tenant-rules.ts';
import type { Changes, PresentKey, TenantChange } from './changes.ts';
import type { DeclaredKey } from './declaration.ts';
import type { KeySink } from './key-sink.ts';
import { readKeys } from './present-state.ts';

/** Responses lost in a row. Each leaves a key without a holder, which is then revoked. */
const LOST_KEYS_MAX = 3;

export interface ApplyOptions extends RetryOptions {
  /** Undefined if no key is created. */
  readonly sink: KeySink | undefined;
  /** A parameter of `putTenantRules`. */
  readonly outsideTypes: string | undefined;
  /** Called after each tenant. */
  readonly onDone: () => void;
}

class Applier {
  readonly #client: ServiceClient;
  readonly #options: ApplyOptions;

  constructor(client: ServiceClient, options: ApplyOptions) {
    this.#client = client;
    this.#options = options;
  }

  #call(request: Parameters<ServiceClient['readJson']>[0]): Promise<JsonRecord> {
    return withRetries(() => this.#client.readJson(request), this.#options);
  }

  #patch(tenantId: string, json: object): Promise<JsonRecord> {
    return this.#call({ method: 'PATCH', path: path`/tenants/${tenantId}`, json });
  }

  async #create({ name, plan }: TenantChange): Promise<string> {
    const json = { name, ...(plan === undefined ? {} : { plan: plan.to }) };
    const created = await this.#call({ method: 'POST', path: '/tenants', json, idempotencyKey: randomUUID() });
    return textOf(created, 'tenant_id');
  }

  async apply(change: TenantChange): Promise<void> {
    const tenantId = change.tenantId ?? (await this.#create(change));
    const { state, plan, readers, rules } = change;
    // Suspended first and resumed last, so that no request meets half of the changes. A new tenant has no key yet.
    if (state?.to === 'suspended') await this.#patch(tenantId, { state: 'suspended' });
    if (plan !== undefined && change.tenantId !== undefined) await this.#patch(tenantId, { plan: plan.to });
    if (readers !== undefined) await this.#patch(tenantId, { readers: readers.to === 'plan' ? null : readers.to });
    if (rules !== undefined) {
      const { to, from } = rules;
      const { outsideTypes } = this.#options;
      await withRetries(
        () => putTenantRules(this.#client.ofTenant(tenantId), bodyOf(to), { ifMatch: from, outsideTypes }),
        this.#options,
      ).catch((error: unknown) => this.#demandRules(tenantId, error, to));
    }
    for (const key of change.revokedKeys) await this.#revoke(tenantId, key);
    for (const key of change.createdKeys) await this.#createKey(tenantId, change, key);
    if (state?.to === 'active') await this.#patch(tenantId, { state: 'active' });
  }

  /** A repeated change of rules may meet itself. */
  async #demandRules(tenantId: string, error: unknown, to: RuleSet): Promise<void> {
    if (!(error instanceof ProblemFailure) || error.code !== 'precondition-failed') throw error;
    const { revision } = await readTenantRules(this.#client.ofTenant(tenantId));
    if (revision !== revisionOf(to)) throw error;
  }

  async #revoke(tenantId: string, { keyId }: PresentKey): Promise<void> {
    try {
      await this.#call({ method: 'DELETE', path: path`/tenants/${tenantId}/keys/${keyId}` });
    } catch (error) {
      if (!(error instanceof ProblemFailure) || error.code !== 'key-not-found') throw error;
    }
  }

  /** If the response with the key is lost, that key is revoked, and another one is created. */
  async #createKey(tenantId: string, { name: tenant, presentKeys }: TenantChange, key: DeclaredKey): Promise<void> {
    const { sink } = this.#options;
    if (sink === undefined) throw new Error('Keys are created only if they are kept.');
    const known = new Set(presentKeys.map(({ keyId }) => keyId));
    for (let lost = 0; ; lost += 1) {
      const idempotencyKey = randomUUID();
      try {
        const json = { name: key.name, scopes: key.scopes };
        const path_ = path`/tenants/${tenantId}/keys`;
        const created = await this.#call({ method: 'POST', path: path_, json, idempotencyKey });
        const keyId = textOf(created, 'key_id');
        await this.#keep(sink, { tenant, tenantId, name: key.name, keyId, key: textOf(created, 'key') });
        return;
      } catch (error) {
        const isLost = error instanceof ProblemFailure && error.code === 'already-created';
        if (!isLost || lost >= LOST_KEYS_MAX) throw error;
        const orphans = (await readKeys(this.#client, tenantId)).filter(
          ({ name, keyId }) => name === key.name && !known.has(keyId),
        );
        for (const orphan of orphans) await this.#revoke(tenantId, orphan);
      }
    }
  }

  /** Revokes a key that cannot be kept. */
  async #keep(sink: KeySink, key: Parameters<KeySink['add']>[0]): Promise<void> {
    try {
      await sink.add(key);
    } catch (error) {
      await this.#revoke(key.tenantId, { keyId: key.keyId, name: key.name, scopes: [] });
      throw error;
    }
  }

  async remove(tenantId: string): Promise<void> {
    try {
      await this.#call({ method: 'DELETE', path: path`/tenants/${tenantId}` });
    } catch (error) {
      if (!(error instanceof ProblemFailure) || error.code !== 'tenant-not-found') throw error;
    }
  }
}

/** Throws the first failure, after which nothing more is changed, or if the signal aborts between two tenants. */
export async function applyChanges(client: ServiceClient, changes: Changes, options: ApplyOptions): Promise<void> {
  const applier = new Applier(client, options);
  const demandTime = (): void => {
    if (options.signal.aborted) throw new CliFailure('Interrupted.', EXIT.interrupted);
  };
  for (const tenant of changes.tenants) {
    demandTime();
    await applier.apply(tenant);
    options.onDone();
  }
  for (const { tenantId } of changes.deleted) {
    demandTime();
    await applier.remove(tenantId);
    options.onDone();
  }
}
