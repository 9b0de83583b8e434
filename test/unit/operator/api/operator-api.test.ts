// The operator's API over HTTP, on an operator's front in memory: what operators alone have, its shapes and refusals.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hashApiKey } from '../../../../src/core/api-keys.ts';
import { UNKNOWN_TENANT as NOBODY, useConsole } from '../../../kit/console-service.ts';
import { loadOf, memberView, slotView } from '../../console/cluster-picture.ts';
import { assertProblem, callOperator, type Reply } from '../operator-call.ts';

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const service = await useConsole();

const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> =>
  callOperator(service.url, method, path, body, headers);

async function createTenant(name = 'Acme'): Promise<string> {
  const reply = await call('POST', '/tenants', { name });
  assert.equal(reply.status, 201);
  return reply.body.tenant_id;
}

const tuple = (subject: string, relation: string, object: string) => ({ subject, relation, object });

/** Fields that have the same name in the view and in the response. */
const READER = { epoch: 2, position: 8, calls: 70, begun: 2 };

describe('tenants', () => {
  test('a tenant is created with the plan free unless another is given, and shown', async () => {
    const created = await call('POST', '/tenants', { name: 'Größe 🦊' });
    assert.equal(created.status, 201);
    const fields = ['tenant_id', 'name', 'plan', 'state', 'created_at', 'bounds', 'readers', 'effective_readers'];
    assert.deepEqual(Object.keys(created.body), [...fields, 'counts', 'grants', 'grant_bytes']);
    assert.deepEqual(created.body.bounds, {
      namespaces_max: 1000,
      keys_max: 1000,
      grants_max: 1_000_000,
      streams_max: 10,
    });
    assert.match(created.body.tenant_id, /^ten_[0-9a-z]{26}$/);
    assert.match(created.body.created_at, TIMESTAMP);
    assert.equal(created.body.plan, 'free');
    assert.equal(created.body.state, 'active');
    const shown = await call('GET', `/tenants/${created.body.tenant_id}`);
    assert.equal(shown.status, 200);
    assert.deepEqual(shown.body, { ...created.body, counts: { namespaces: 0, keys: 0 }, grants: 0, grant_bytes: 0 });
  });

  for (const [what, body, detail] of [
    ['no name', {}, /"name"/],
    ['an empty name', { name: '' }, /"name"/],
    ['a name of 257 characters', { name: '🦊'.repeat(257) }, /"name"/],
    ['a control character', { name: 'a\u0007b' }, /"name"/],
    ['a lone surrogate', '{"name":"\\ud800"}', /"name"/],
    ['a number as name', { name: 7 }, /"name"/],
    ['an unknown plan', { name: 'a', plan: 'gold' }, /free, standard, scale, unlimited/],
  ] as const) {
    test(`creation with ${what} is refused and makes nothing`, async () => {
      const made = service.operator.calls.filter(({ name }) => name === 'createTenant').length;
      assertProblem(await call('POST', '/tenants', body), 400, 'invalid-request', detail);
      assert.equal(service.operator.calls.filter(({ name }) => name === 'createTenant').length, made);
    });
  }

  test('a name of 256 code points is taken', async () => {
    assert.equal((await call('POST', '/tenants', { name: '🦊'.repeat(256) })).status, 201);
  });

  test('a search finds a part of a name or an id, in any case, over pages of any length', async () => {
    const ids = [await createTenant('Äpfel <b>1</b>'), await createTenant('äpfel 2'), await createTenant('Klein')];
    const found = async (name: string, limit: number) => {
      const seen: string[] = [];
      let cursor = '';
      do {
        const page: Reply = await call('GET', `/tenants?name=${encodeURIComponent(name)}&limit=${limit}${cursor}`);
        seen.push(...page.body.tenants.map(({ tenant_id }: { tenant_id: string }) => tenant_id));
        cursor = page.body.next_cursor === null ? '' : `&cursor=${page.body.next_cursor}`;
      } while (cursor !== '');
      return seen;
    };
    for (const limit of [1, 2, 100]) assert.deepEqual(await found('ÄPFEL', limit), ids.slice(0, 2).toSorted());
    assert.deepEqual(await found('<B>1', 10), ids.slice(0, 1));
    assert.deepEqual(await found((ids[2] ?? '').toUpperCase(), 10), ids.slice(2));
    assert.deepEqual(await found('nobody', 10), []);
    assert.ok((await found('', 100)).length >= 3);
  });

  test('usage is shown by the minute or by the hour, with the limit of the plan', async () => {
    const id = await createTenant();
    assert.deepEqual((await call('GET', `/tenants/${id}/usage`)).body, {
      limit: { requests: 600, window_seconds: 60 },
      bucket_seconds: 60,
      buckets: [],
      problems: [],
    });
    await call('PATCH', `/tenants/${id}`, { plan: 'unlimited' });
    service.operator.usage = [{ atMs: 1_700_000_040_000, requests: 12, refused: 2, checks: 30 }];
    const of = { keyId: 'key_x', code: 'invalid-relation', requestId: 'req_x', detail: 'It is none.' };
    service.operator.problems = [{ ...of, count: 3, sinceMs: 1_700_000_000_000, atMs: 1_700_000_040_000 }];
    assert.deepEqual((await call('GET', `/tenants/${id}/usage`)).body, {
      limit: null,
      bucket_seconds: 60,
      buckets: [{ at: '2023-11-14T22:14:00.000Z', requests: 12, refused: 2, checks: 30 }],
      problems: [
        {
          ...{ key_id: 'key_x', code: 'invalid-relation', count: 3, since: '2023-11-14T22:13:20.000Z' },
          ...{ last_at: '2023-11-14T22:14:00.000Z', last_request_id: 'req_x', last_detail: 'It is none.' },
        },
      ],
    });
    service.operator.problems = [];
    const since = (ms: number) => new Date(Date.now() - ms).toISOString();
    const bucketOf = async (ms: number) =>
      (await call('GET', `/tenants/${id}/usage?since=${since(ms)}`)).body.bucket_seconds;
    assert.deepEqual([await bucketOf(24 * 3_600_000), await bucketOf(26 * 3_600_000)], [60, 3600]);
    assertProblem(await call('GET', `/tenants/${id}/usage?since=yesterday`), 400, 'invalid-request', /"since"/);
  });

  test('ill-formed query parameters of a listing are refused by name', async () => {
    for (const query of ['limit=0', 'limit=1001', 'limit=1e2', 'limit=', 'limit=%201']) {
      assertProblem(await call('GET', `/tenants?${query}`), 400, 'invalid-request', /"limit"/);
    }
    assertProblem(await call('GET', '/tenants?cursor=nonsense'), 400, 'invalid-cursor');
    assertProblem(await call('GET', `/tenants?name=${'a'.repeat(257)}`), 400, 'invalid-request', /"name"/);
    assertProblem(await call('GET', '/tenants?name=a%07b'), 400, 'invalid-request', /"name"/);
    assert.equal((await call('GET', '/tenants?limit=1000')).status, 200);
  });

  test('a change touches what it names and nothing else', async () => {
    const id = await createTenant('Before');
    const suspended = await call('PATCH', `/tenants/${id}`, { state: 'suspended' });
    assert.equal(suspended.status, 200);
    assert.deepEqual([suspended.body.name, suspended.body.plan, suspended.body.state], ['Before', 'free', 'suspended']);
    const changed = await call('PATCH', `/tenants/${id}`, { name: 'After', plan: 'scale', state: 'active' });
    assert.deepEqual([changed.body.name, changed.body.plan, changed.body.state], ['After', 'scale', 'active']);
  });

  test('a change of nothing, to an unknown plan or to a foreign state is refused', async () => {
    const id = await createTenant();
    assertProblem(await call('PATCH', `/tenants/${id}`, {}), 400, 'invalid-request', /at least one/);
    assertProblem(await call('PATCH', `/tenants/${id}`, { plan: 'gold' }), 400, 'invalid-request', /free/);
    assertProblem(await call('PATCH', `/tenants/${id}`, { state: 'deleting' }), 400, 'invalid-request', /"state"/);
  });

  test('a number of readers overrides that of the plan until it is null', async () => {
    const id = await createTenant();
    const set = async (readers: number | 'auto' | null) => {
      const { status, body } = await call('PATCH', `/tenants/${id}`, { readers });
      assert.equal(status, 200);
      assert.deepEqual((await call('GET', `/tenants/${id}`)).body.readers, body.readers);
      return [body.readers, body.effective_readers];
    };
    assert.deepEqual(
      [await set(16), await set(0), await set('auto'), await set(null)],
      [
        [16, 16],
        [0, 0],
        ['auto', null],
        [null, 0],
      ],
    );
    for (const readers of [-1, 17, 1.5, '2', [], true]) {
      const refused = await call('PATCH', `/tenants/${id}`, { name: 'Unchanged', readers });
      assertProblem(refused, 400, 'invalid-request', /"readers" must be a whole number from 0 to 16/);
    }
    assert.notEqual((await call('GET', `/tenants/${id}`)).body.name, 'Unchanged');
  });

  test('a deletion is accepted, shown while it lasts and then not found', async () => {
    const id = await createTenant();
    const accepted = await call('DELETE', `/tenants/${id}`);
    assert.equal(accepted.status, 202);
    assert.equal(accepted.body.state, 'deleting');
    const shown = (await call('GET', `/tenants/${id}`)).body;
    assert.deepEqual([shown.state, shown.counts, shown.deletion.parts_removed], ['deleting', null, 3]);
    assert.match(shown.deletion.last_part_at, TIMESTAMP);
    assertProblem(await call('GET', `/tenants/${id}/keys`), 404, 'tenant-not-found');
    await service.operator.finishDeletions();
    assertProblem(await call('GET', `/tenants/${id}`), 404, 'tenant-not-found');
    assertProblem(await call('DELETE', `/tenants/${id}`), 404, 'tenant-not-found');
  });

  test('unknown and ill-formed tenant ids are not found, on every path', async () => {
    for (const id of [NOBODY, 'nonsense', 'ten_short', '%00', '%ff', `key_${NOBODY.slice(4)}`, '..%2F..']) {
      assertProblem(await call('GET', `/tenants/${id}`), 404, 'tenant-not-found');
      assertProblem(await call('PATCH', `/tenants/${id}`, { plan: 'free' }), 404, 'tenant-not-found');
      assertProblem(await call('DELETE', `/tenants/${id}`), 404, 'tenant-not-found');
      for (const path of ['usage', 'keys', 'namespaces', 'subjects', 'audit-log', 'export']) {
        assertProblem(await call('GET', `/tenants/${id}/${path}`), 404, 'tenant-not-found');
      }
      assertProblem(await call('POST', `/tenants/${id}/check`, tuple('a:b', 'owner', 'c:d')), 404, 'tenant-not-found');
      const lines = { 'Content-Type': 'application/x-ndjson' };
      assertProblem(await call('POST', `/tenants/${id}/import`, '{}', lines), 404, 'tenant-not-found');
    }
  });
});

describe('keys', () => {
  test('a key is rotated: the new text is shown once, and both keys name each other', async () => {
    const id = await createTenant();
    const created = await call('POST', `/tenants/${id}/keys`, { name: 'ci', scopes: ['check:read'] });
    const path = `/tenants/${id}/keys/${created.body.key_id}`;
    const askedMs = Date.now();
    const rotated = await call('POST', `${path}/rotate`, { grace_seconds: 3600 });
    assert.equal(rotated.status, 201);
    const { key, key_id, former, ...rest } = rotated.body;
    assert.match(key, /^gk1_[0-9A-Za-z]{81}$/);
    assert.deepEqual([rest.name, rest.scopes, rest.expires_at], ['ci', ['check:read'], null]);
    assert.deepEqual([former.key_id, former.revoked], [created.body.key_id, false]);
    assert.ok(Date.parse(former.ends_at) > askedMs + 3_500_000, `${former.ends_at} is in an hour`);
    const { keys } = (await call('GET', `/tenants/${id}/keys`)).body;
    assert.deepEqual(
      keys.map((each: Record<string, unknown>) => [each.key_id, each.expires_at, each.rotated_from, each.rotated_to]),
      [
        [former.key_id, former.ends_at, null, key_id],
        [key_id, null, former.key_id, null],
      ],
    );
    assertProblem(await call('POST', `${path}/rotate`, {}), 409, 'key-not-rotatable');
    const ended = await call('POST', `/tenants/${id}/keys/${key_id}/rotate`, { grace_seconds: 0 });
    assert.deepEqual([ended.status, ended.body.former.revoked], [201, true]);
    assertProblem(await call('POST', `/tenants/${id}/keys/${key_id}/rotate`, {}), 409, 'key-not-rotatable');
  });

  test('a grace is a whole number of seconds up to 30 days', async () => {
    const id = await createTenant();
    const created = await call('POST', `/tenants/${id}/keys`, { scopes: ['admin'] });
    const path = `/tenants/${id}/keys/${created.body.key_id}/rotate`;
    for (const grace of [-1, 0.5, 2_592_001, '1h', null]) {
      const reply = await call('POST', path, { grace_seconds: grace });
      assertProblem(
        reply,
        400,
        'invalid-request',
        /"grace_seconds" must be a whole number of seconds from 0 to 2592000/,
      );
    }
    assert.equal((await call('POST', path, { grace_seconds: 2_592_000 })).status, 201);
  });

  test('a text is identified by its SHA-256', async () => {
    const id = await createTenant();
    const { key, key_id } = (await call('POST', `/tenants/${id}/keys`, { scopes: ['admin'] })).body;
    const path = `/tenants/${id}/keys/${key_id}/identify`;
    const found = await call('POST', path, { hash: hashApiKey(key) });
    assert.deepEqual([found.status, found.body.state, found.body.matches], [200, 'active', true]);
    assert.equal((await call('POST', path, { hash: hashApiKey(`${key}x`) })).body.matches, false);
    assertProblem(await call('POST', path, { hash: key }), 400, 'invalid-request', /"hash" must be the SHA-256/);
    assertProblem(await call('POST', path, {}), 400, 'invalid-request', /"hash"/);
    const other = `/tenants/${id}/keys/key_00000000000000000000000000/identify`;
    assertProblem(await call('POST', other, { hash: hashApiKey(key) }), 404, 'key-not-found');
  });
});

test('every subject that has a grant is listed, page by page', async () => {
  const id = await createTenant();
  for (const subject of ['user:bob', 'user:ann']) {
    await call('POST', `/tenants/${id}/grants`, tuple(subject, 'viewer', 'doc:a'));
  }
  const first = (await call('GET', `/tenants/${id}/subjects?limit=1`)).body;
  assert.deepEqual(first.subjects, ['user:ann']);
  const rest = await call('GET', `/tenants/${id}/subjects?cursor=${encodeURIComponent(first.next_cursor)}`);
  assert.deepEqual(rest.body, { subjects: ['user:bob'], next_cursor: null });
});

describe('the cluster', () => {
  test('plans are listed', async () => {
    const { plans } = (await call('GET', '/plans')).body;
    assert.deepEqual(plans[0], {
      name: 'free',
      requests: 600,
      window_seconds: 60,
      namespaces_max: 1000,
      keys_max: 1000,
      grants_max: 1_000_000,
      streams_max: 10,
      readers: 0,
      readers_max: 4,
    });
    assert.equal(plans.at(-1).requests, null);
    assert.equal(plans.at(-1).grants_max, null);
  });

  test('slots are listed', async () => {
    const owned = { logEnd: 9, checkpoint: 7, tenants: 1, incarnation: 'inc_a', address: 'h:1', leaseLeftMs: 2500.7 };
    const readers = [{ tenantId: 'ten_a', shardName: 'shard-1', ...READER, readIndexes: 9, handedOver: 3 }];
    service.operator.slots = [
      slotView(3, 'shard-0', { ...owned, epoch: 2, readers }),
      slotView(4, undefined, { state: 'unclaimed', epoch: undefined }),
    ];
    const unknown = [
      ...['shard', 'incarnation', 'address', 'epoch', 'lease_left_ms', 'log_end', 'checkpoint'],
      ...['checkpoint_lag', 'tenants'],
    ];
    assert.deepEqual((await call('GET', '/slots')).body.slots, [
      {
        slot: 3,
        state: 'serving',
        shard: 'shard-0',
        incarnation: 'inc_a',
        address: 'h:1',
        epoch: 2,
        lease_left_ms: 2500,
        log_end: 9,
        checkpoint: 7,
        checkpoint_lag: 2,
        tenants: 1,
        readers: [{ tenant_id: 'ten_a', shard: 'shard-1', ...READER, read_indexes: 9, handed_over: 3 }],
      },
      {
        ...{ slot: 4, state: 'unclaimed' },
        ...Object.fromEntries(unknown.map((field) => [field, null])),
        readers: [],
      },
    ]);
  });

  test('members are listed', async () => {
    service.operator.members = [{ ...memberView('shard-0', 'alive'), leaseLeftMs: undefined, slotsOwned: 3 }];
    assert.deepEqual((await call('GET', '/members')).body.members, [
      {
        incarnation: 'shard-0#1',
        shard: 'shard-0',
        address: '10.0.0.1:8082',
        state: 'alive',
        heartbeat: 1,
        started_at: '1970-01-01T00:00:00.000Z',
        lease_left_ms: null,
        slots: 3,
      },
    ]);
  });

  test('the load of every shard that answers is listed, and no rate where there was nothing', async () => {
    const busiest = { tenantId: 'ten_a', share: 0.712 };
    service.operator.loads = [
      loadOf('shard-0', { checksPerSecond: 1234.5678, failuresPerSecond: 0.1, p99Ms: 3.456, busiest }),
      loadOf('shard-1'),
    ];
    assert.deepEqual((await call('GET', '/loads')).body, {
      shards: [
        {
          shard: 'shard-0',
          checks_per_second: 1234.57,
          failures_per_second: 0.1,
          p99_ms: 3.46,
          busiest_tenant: 'ten_a',
          busiest_share: 0.71,
        },
        {
          shard: 'shard-1',
          checks_per_second: 0,
          failures_per_second: 0,
          p99_ms: null,
          busiest_tenant: null,
          busiest_share: 0,
        },
      ],
    });
  });
});
