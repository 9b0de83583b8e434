// The demo tenant over restarts: kept while it works, its key replaced when revoked, itself replaced when deleted.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import { parseTenantId } from '../../../../src/core/ids.ts';
import { ALL_SCOPES } from '../../../../src/core/scopes.ts';
import { ensureDemoTenant } from '../../../../src/roles/dev/demo.ts';

type Dependencies = Parameters<typeof ensureDemoTenant>[0];

/** Tenants and keys in memory, behind those calls of the ports that the demo needs. */
class FakeService {
  readonly tenants = new Map<string, { state: string; plan: string }>();
  readonly keys = new Map<string, { tenantId: string; scopes: number }>();
  failure: GrantdError | undefined;
  #made = 0;

  dependencies(): Dependencies {
    const service = this;
    const fail = (code: 'unauthorized' | 'tenant-not-found' | 'tenant-suspended'): never => {
      throw new GrantdError(code, code);
    };
    const fake = {
      newContext: () => ({ requestId: 'req_x', deadlineMs: 0 }),
      front: {
        async authenticate(_context: unknown, text: string) {
          if (service.failure !== undefined) throw service.failure;
          const key = service.keys.get(text) ?? fail('unauthorized');
          const state = service.tenants.get(key.tenantId)?.state;
          if (state === 'deleting') fail('unauthorized');
          if (state === 'suspended') fail('tenant-suspended');
          return { tenantId: key.tenantId, confirm: async () => {} };
        },
      },
      operator: {
        async createTenant(_context: unknown, { plan }: { plan: string }) {
          service.#made += 1;
          const tenantId = `ten_${'0'.repeat(25)}${service.#made}`;
          service.tenants.set(tenantId, { state: 'active', plan });
          return { tenantId };
        },
        async call(_call: unknown, _context: unknown, { tenantId }: { tenantId: string }) {
          const tenant = service.tenants.get(tenantId) ?? fail('tenant-not-found');
          return { tenantId, ...tenant };
        },
        async tenant(_context: unknown, tenantId: string) {
          return {
            async createKey(_keyContext: unknown, { scopes }: { scopes: number }) {
              service.#made += 1;
              const text = `gk1_${service.#made}`;
              service.keys.set(text, { tenantId, scopes });
              return { text };
            },
          };
        },
      },
    };
    // Only the calls above are made; anything else fails as no function.
    return fake as unknown as Dependencies;
  }
}

describe('the demo tenant', () => {
  let service: FakeService;
  beforeEach(() => {
    service = new FakeService();
  });
  const ensure = (known: { tenantId: string | undefined; key: string | undefined }) =>
    ensureDemoTenant(service.dependencies(), known, { operatorName: 'operator' });
  const first = () => ensure({ tenantId: undefined, key: undefined });

  it('is created at the first start, on the plan `scale`, with a key of all scopes', async () => {
    const demo = await first();
    assert.ok(parseTenantId(demo.tenantId) !== undefined);
    assert.equal(service.tenants.get(demo.tenantId)?.plan, 'scale');
    assert.deepEqual(service.keys.get(demo.key), { tenantId: demo.tenantId, scopes: ALL_SCOPES });
  });

  it('is kept with its key while both work', async () => {
    const demo = await first();
    assert.deepEqual(await ensure(demo), demo);
    assert.equal(service.tenants.size, 1);
    assert.equal(service.keys.size, 1);
  });

  it('gets a new key if the old one was revoked or is unknown', async () => {
    const demo = await first();
    service.keys.clear();
    const again = await ensure(demo);
    assert.equal(again.tenantId, demo.tenantId);
    assert.ok(service.keys.has(again.key));
    assert.equal((await ensure({ tenantId: demo.tenantId, key: undefined })).tenantId, demo.tenantId);
  });

  it('is created again if it was deleted', async () => {
    const demo = await first();
    service.tenants.set(demo.tenantId, { state: 'deleting', plan: 'scale' });
    const again = await ensure(demo);
    assert.notEqual(again.tenantId, demo.tenantId);
    service.tenants.clear();
    service.keys.clear();
    await ensure({ tenantId: demo.tenantId, key: demo.key });
    assert.equal(service.tenants.size, 1);
  });

  it('stays suspended if the operator suspended it', async () => {
    const demo = await first();
    service.tenants.set(demo.tenantId, { state: 'suspended', plan: 'scale' });
    assert.deepEqual(await ensure(demo), demo);
  });

  it('is not taken over by a key of another tenant', async () => {
    const [one, other] = [await first(), await first()];
    const again = await ensure({ tenantId: one.tenantId, key: other.key });
    assert.equal(again.tenantId, one.tenantId);
    assert.notEqual(again.key, other.key);
  });

  it('is not created again while its existence is unknown', async () => {
    const demo = await first();
    service.failure = new GrantdError('unavailable', 'Not now.');
    await assert.rejects(ensure(demo), service.failure);
    assert.equal(service.tenants.size, 1);
  });

  it('is created if dev.json holds no id', async () => {
    const demo = await ensure({ tenantId: 'nonsense', key: 'gk1_nonsense' });
    assert.ok(service.keys.has(demo.key));
  });
});
