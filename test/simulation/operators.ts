// The operators of a run, several at once at one console: they suspend tenants, let them on again and delete them,
// import and export, list subjects and keys, and make tenants of their own that they remove again. Once a removal was
// acknowledged, nothing of the tenant may be left in the store in the end.

import type { KeyId } from '../../src/core/ids.ts';
import type { OperatorApi, RequestContext } from '../../src/front/front.ts';
import { type Access, Caller, type WorkloadTenant } from './caller.ts';
import { READERS_DRAWN_MAX } from './profile.ts';
import { type Answer, request } from './requests.ts';
import { planWith } from './simulated-cluster.ts';
import { TenantStates } from './tenant-states.ts';

/** Tenants of its own that an operator makes in a run. */
const TEMPORARY_MAX = 3;
/** As often an import is sent whose outcome is not known. */
const IMPORT_TRIES = 3;

export class Operator extends Caller {
  readonly #access: Access = { operator: this.name };
  /** Made by this operator. */
  readonly #temporary: WorkloadTenant[] = [];
  #keysMade = 0;

  get temporary(): readonly WorkloadTenant[] {
    return this.#temporary;
  }

  run(endMs: number): Promise<void> {
    return this.repeat(endMs, [1, this.ports.profile.operatorMsMax]);
  }

  protected override async step(): Promise<void> {
    const tenant = this.random.pick([...this.ports.tenants, ...this.#temporary]);
    switch (this.random.weighted(this.ports.profile.operatorActions)) {
      case 'state':
        return this.#changeState(this.random.pick([...this.ports.tenants, ...this.#temporary]));
      case 'readers':
        return this.#changeReaders(tenant);
      case 'import':
        return this.#import(tenant, this.random.whole(3, 9));
      case 'export':
        return this.export(tenant, this.#access, this.random.whole(1, 5));
      case 'grants':
        return this.export(tenant, this.#access, this.random.whole(1, 3), { subject: this.subject(tenant) });
      case 'subjects':
        return this.listSubjects(tenant, this.#access, this.random.whole(1, 3));
      case 'keys':
        return this.listKeys(tenant, this.#access, this.random.whole(1, 3));
      case 'tenant':
        return this.#temporary.length < TEMPORARY_MAX ? this.#makeTenant() : undefined;
    }
  }

  // ---- states ----

  async #changeState(tenant: WorkloadTenant): Promise<void> {
    const { states, tenantId, index } = tenant;
    if (states === undefined) return;
    const deletes = this.random.chance(this.#temporary.includes(tenant) ? 0.5 : 0.1);
    const state = deletes ? 'deleting' : this.random.pick(['active', 'suspended', 'active'] as const);
    const { name, ports } = this;
    ports.trace.add(name, `sets tenant ${index} to ${state}`);
    const end = states.begin(state);
    const answer = await this.#operate((operator, context) =>
      operator.call('updateTenant', context, { tenantId, state, operator: name }),
    );
    if (answer.kind === 'value') {
      end('done');
      const shown = answer.value.state;
      if (shown === state || (state === 'deleting' && shown === 'deleted')) return;
      ports.report(`${name}: tenant ${index} is set to ${state} and answered as ${shown}`);
    } else if (answer.kind === 'error') {
      const undone = this.undone(answer.error, 'state', index);
      end(!undone ? undefined : answer.error.code === 'tenant-not-found' ? 'not-found' : 'not-done');
    }
  }

  /** Readers begin, and others end, while they are asked. */
  async #changeReaders({ tenantId, index }: WorkloadTenant): Promise<void> {
    const { name, ports } = this;
    const readers = this.random.whole(0, READERS_DRAWN_MAX);
    ports.trace.add(name, `gives tenant ${index} ${readers} readers`);
    const answer = await this.#operate((operator, context) =>
      operator.call('updateTenant', context, { tenantId, readers, operator: name }),
    );
    if (answer.kind === 'error') this.undone(answer.error, 'readers', index);
  }

  // ---- imports ----

  /** Sent again where its outcome is not known, as the command line does: what stands is there already then. */
  async #import(tenant: WorkloadTenant, lines: number): Promise<void> {
    const writes = Array.from({ length: lines }, () => ({ ...this.tuple(tenant), revoke: false }));
    for (let tries = 0; tries < IMPORT_TRIES; tries += 1) {
      if (await this.writeMany(tenant, this.#access, writes)) return;
    }
  }

  // ---- tenants of its own ----

  async #makeTenant(): Promise<void> {
    const { ports, name } = this;
    const label = `${name}'s ${this.#temporary.length}`;
    const plan = planWith(this.random.whole(0, READERS_DRAWN_MAX));
    const made = await this.#operate((operator, context) =>
      operator.createTenant(context, { name: label, plan, operator: name }),
    );
    if (made.kind !== 'value') return;
    const { tenantId } = made.value;
    const states = new TenantStates(ports.now, ports.report);
    // A tenant of nobody but this operator: no client has a key of it.
    const index = 100 * (1 + Number(name.at(-1))) + this.#temporary.length;
    const tenant: WorkloadTenant = { index, tenantId, key: { keyId: '', text: '' }, states };
    this.#temporary.push(tenant);
    await this.#import(tenant, 12);
    await this.#useKeyOf(tenant);
    await this.#changeState(tenant);
  }

  /** A key is made and used, which is kept, too, and has to go with its tenant. */
  async #useKeyOf(tenant: WorkloadTenant): Promise<void> {
    this.#keysMade += 1;
    const name = `${this.name}-${this.#keysMade}`;
    let made: { readonly keyId: KeyId; readonly text: string } | undefined;
    await this.call(tenant, this.#access, { kind: 'create-key', input: { name } }, async (session, context) => {
      const { record, text } = await session.createKey(context, { name, scopes: 7, expiresAtMs: undefined });
      made = { keyId: record.keyId, text };
      return { kind: 'key', keyId: record.keyId };
    });
    const key = made;
    if (key === undefined) return;
    const input = this.tuple(tenant);
    await this.call(tenant, key, { kind: 'check', input }, async (session, context) => {
      const { authorized } = await session.check(context, input);
      return { kind: 'answer', authorized };
    });
  }

  #operate<Value>(run: (operator: OperatorApi, context: RequestContext) => Promise<Value>): Promise<Answer<Value>> {
    const { front } = this;
    if (front === undefined) return Promise.resolve({ kind: 'none' });
    return request(this.ports.cluster, front, (at, context) => run(at.operator, context));
  }
}
