// The operator's API over HTTP, on an operator's front in memory: every operation, its shapes and its refusals.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import { systemClock, systemRandom } from '../../../src/roles/system.ts';
import { type ConsoleService, ERRORS_BASE, OPERATOR_TOKEN, startConsole } from '../../support/console-service.ts';

const NOBODY = 'ten_00000000000000000000000000';
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let service: ConsoleService;

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into JSON of any shape.
  readonly body: any;
}

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(`${service.url}/operator/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${OPERATOR_TOKEN}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: raw ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.match(response.headers.get('x-service-request-id') ?? '', /^req_[0-9a-z]{26}$/);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.equal(response.headers.get('x-powered-by'), null);
  const json = /^application\/(problem\+)?json$/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : undefined };
}

function assertProblem(reply: Reply, status: number, code: string, detail?: RegExp): void {
  assert.equal(reply.status, status, reply.text);
  assert.equal(reply.headers.get('content-type'), 'application/problem+json');
  assert.equal(reply.body.type, `${ERRORS_BASE}/${code}`);
  assert.equal(reply.body.status, status);
  assert.equal(reply.body.instance, reply.headers.get('x-service-request-id'));
  assert.deepEqual(Object.keys(reply.body), ['type', 'title', 'status', 'detail', 'instance']);
  if (detail !== undefined) assert.match(reply.body.detail, detail);
}

async function createTenant(name = 'Acme'): Promise<string> {
  const reply = await call('POST', '/tenants', { name });
  assert.equal(reply.status, 201);
  return reply.body.tenant_id;
}

const tuple = (subject: string, relation: string, object: string) => ({ subject, relation, object });
const importLines = (id: string, body: string | Uint8Array) =>
  call('POST', `/tenants/${id}/import`, body, { 'Content-Type': 'application/x-ndjson' });
const linesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

before(async () => {
  service = await startConsole({ clock: systemClock, random: systemRandom });
});
after(() => service.close());

describe('tenants', () => {
  test('a tenant is made with the plan free unless told, and shown', async () => {
    const created = await call('POST', '/tenants', { name: 'Größe 🦊', ignored: true });
    assert.equal(created.status, 201);
    assert.deepEqual(Object.keys(created.body), ['tenant_id', 'name', 'plan', 'state', 'created_at']);
    assert.match(created.body.tenant_id, /^ten_[0-9a-z]{26}$/);
    assert.match(created.body.created_at, TIMESTAMP);
    assert.equal(created.body.plan, 'free');
    assert.equal(created.body.state, 'active');
    const shown = await call('GET', `/tenants/${created.body.tenant_id}`);
    assert.equal(shown.status, 200);
    assert.deepEqual(shown.body, created.body);
  });

  for (const [what, body, detail] of [
    ['no name', {}, /"name"/],
    ['an empty name', { name: '' }, /"name"/],
    ['a name of 257 characters', { name: '🦊'.repeat(257) }, /"name"/],
    ['a control character', { name: 'a\u0007b' }, /"name"/],
    ['a lone surrogate', '{"name":"\\ud800"}', /"name"/],
    ['a number as name', { name: 7 }, /"name"/],
    ['an array', [], /JSON object/],
    ['null', 'null', /JSON object/],
    ['malformed JSON', '{"name":', /JSON/],
    ['an unknown plan', { name: 'a', plan: 'gold' }, /free, standard, scale, unlimited/],
    ['bytes that are not UTF-8', Uint8Array.from([0x22, 0xff, 0x22]), /UTF-8/],
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

  test('the listing gives every tenant once over pages of any length', async () => {
    const ids = [await createTenant(), await createTenant(), await createTenant()];
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Reply = await call('GET', `/tenants?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`);
      assert.equal(page.status, 200);
      seen.push(...page.body.tenants.map(({ tenant_id }: { tenant_id: string }) => tenant_id));
      cursor = page.body.next_cursor;
    } while (cursor !== null);
    assert.equal(new Set(seen).size, seen.length);
    for (const id of ids) assert.ok(seen.includes(id));
    assert.deepEqual(seen, seen.toSorted());
  });

  test('ill-formed query parameters of a listing are refused by name', async () => {
    for (const query of ['limit=0', 'limit=1001', 'limit=1e2', 'limit=', 'limit=%201']) {
      assertProblem(await call('GET', `/tenants?${query}`), 400, 'invalid-request', /"limit"/);
    }
    assertProblem(await call('GET', '/tenants?limt=1'), 400, 'invalid-request', /"limt"/);
    assertProblem(await call('GET', '/tenants?limit=1&limit=1'), 400, 'invalid-request', /"limit" is repeated/);
    assertProblem(await call('GET', '/tenants?__proto__=1'), 400, 'invalid-request', /__proto__/);
    assertProblem(await call('GET', '/tenants?cursor=%ff'), 400, 'invalid-request');
    assertProblem(await call('GET', '/tenants?cursor=nonsense'), 400, 'invalid-cursor');
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

  test('a deletion is accepted, shown while it lasts and then not found', async () => {
    const id = await createTenant();
    const accepted = await call('DELETE', `/tenants/${id}`);
    assert.equal(accepted.status, 202);
    assert.equal(accepted.body.state, 'deleting');
    assert.equal((await call('GET', `/tenants/${id}`)).body.state, 'deleting');
    assertProblem(await call('GET', `/tenants/${id}/keys`), 404, 'tenant-not-found');
    service.operator.finishDeletions();
    assertProblem(await call('GET', `/tenants/${id}`), 404, 'tenant-not-found');
    assertProblem(await call('DELETE', `/tenants/${id}`), 404, 'tenant-not-found');
  });

  test('unknown and ill-formed tenant ids are not found, on every path', async () => {
    for (const id of [NOBODY, 'nonsense', 'ten_short', '%00', '%ff', `key_${NOBODY.slice(4)}`, '..%2F..']) {
      assertProblem(await call('GET', `/tenants/${id}`), 404, 'tenant-not-found');
      assertProblem(await call('PATCH', `/tenants/${id}`, { plan: 'free' }), 404, 'tenant-not-found');
      assertProblem(await call('DELETE', `/tenants/${id}`), 404, 'tenant-not-found');
      for (const path of ['keys', 'namespaces', 'subjects', 'changes', 'export']) {
        assertProblem(await call('GET', `/tenants/${id}/${path}`), 404, 'tenant-not-found');
      }
      assertProblem(await call('POST', `/tenants/${id}/check`, tuple('a:b', 'owner', 'c:d')), 404, 'tenant-not-found');
      assertProblem(await importLines(id, '{}'), 404, 'tenant-not-found');
    }
  });
});

describe('keys', () => {
  test('a key is made, listed without its text, and revoked once', async () => {
    const id = await createTenant();
    const created = await call('POST', `/tenants/${id}/keys`, {
      name: 'ci',
      scopes: ['check:read', 'admin'],
      expires_at: '2999-01-01T00:00:00Z',
    });
    assert.equal(created.status, 201);
    assert.deepEqual(Object.keys(created.body), ['key_id', 'name', 'scopes', 'created_at', 'expires_at', 'key']);
    assert.match(created.body.key, /^gk1_[0-9A-Za-z]{81}$/);
    assert.equal(created.body.expires_at, '2999-01-01T00:00:00.000Z');
    const { keys, next_cursor } = (await call('GET', `/tenants/${id}/keys`)).body;
    assert.equal(next_cursor, null);
    const { key: _text, ...record } = created.body;
    assert.deepEqual(keys, [{ ...record, last_used_at: null }]);
    assert.equal((await call('DELETE', `/tenants/${id}/keys/${record.key_id}`)).status, 204);
    assertProblem(await call('DELETE', `/tenants/${id}/keys/${record.key_id}`), 404, 'key-not-found');
    assertProblem(await call('DELETE', `/tenants/${id}/keys/nonsense`), 404, 'key-not-found');
  });

  test('scopes and expiry are looked at', async () => {
    const id = await createTenant();
    const path = `/tenants/${id}/keys`;
    assertProblem(await call('POST', path, {}), 400, 'invalid-request', /"scopes"/);
    assertProblem(await call('POST', path, { scopes: [] }), 400, 'invalid-request', /"scopes"/);
    assertProblem(await call('POST', path, { scopes: ['root'] }), 400, 'invalid-request', /"scopes\[0\]"/);
    assertProblem(await call('POST', path, { scopes: ['admin', 'admin'] }), 400, 'invalid-request', /"scopes"/);
    const past = { scopes: ['admin'], expires_at: '2001-01-01T00:00:00.000Z' };
    assertProblem(await call('POST', path, past), 400, 'invalid-request', /"expires_at"/);
    const vague = { scopes: ['admin'], expires_at: 'tomorrow' };
    assertProblem(await call('POST', path, vague), 400, 'invalid-request', /"expires_at"/);
  });
});

describe('grants', () => {
  test('a grant is made, found, checked, listed and revoked', async () => {
    const id = await createTenant();
    const one = tuple('user:ann', 'viewer', 'doc:a:b/*');
    const created = await call('POST', `/tenants/${id}/grants`, one);
    assert.equal(created.status, 201);
    assert.deepEqual(Object.keys(created.body), ['grant_id', 'subject', 'relation', 'object', 'created_at']);
    const again = await call('POST', `/tenants/${id}/grants`, one);
    assert.equal(again.status, 200);
    assert.deepEqual(again.body, created.body);
    const checked = await call('POST', `/tenants/${id}/check`, one);
    assert.deepEqual([checked.status, checked.body.authorized], [200, true]);
    assert.match(checked.body.checked_at, TIMESTAMP);
    const listed = await call('GET', `/tenants/${id}/objects?subject=user:ann&relation=viewer&namespace=doc`);
    assert.deepEqual(listed.body, { objects: ['doc:a:b/*'], next_cursor: null });
    assert.deepEqual((await call('GET', `/tenants/${id}/subjects`)).body.subjects, ['user:ann']);
    assert.deepEqual((await call('GET', `/tenants/${id}/grants?subject=user%3Aann`)).body.grants, [created.body]);
    assert.equal((await call('DELETE', `/tenants/${id}/grants`, one)).status, 204);
    assertProblem(await call('DELETE', `/tenants/${id}/grants`, one), 404, 'grant-not-found');
    assert.equal((await call('POST', `/tenants/${id}/check`, one)).body.authorized, false);
    const { changes } = (await call('GET', `/tenants/${id}/changes`)).body;
    assert.deepEqual(Object.keys(changes[0]), ['seq', 'index', 'at', 'actor', 'request_id', 'change']);
    assert.deepEqual(
      changes.map(({ actor, change }: { actor: string; change: { action: string } }) => [actor, change.action]),
      [
        ['operator:alice', 'grant.created'],
        ['operator:alice', 'grant.revoked'],
      ],
    );
    assert.equal(changes[0].request_id, created.headers.get('x-service-request-id'));
  });

  test('each ill-formed part has its own type', async () => {
    const id = await createTenant();
    for (const path of ['check', 'grants']) {
      const send = (body: object) => call('POST', `/tenants/${id}/${path}`, body);
      assertProblem(await send(tuple('nobody', 'viewer', 'doc:a')), 400, 'invalid-subject', /"subject"/);
      assertProblem(await send(tuple('user:a', 'reader', 'doc:a')), 400, 'invalid-relation', /"relation"/);
      assertProblem(await send(tuple('user:a', 'viewer', ':a')), 400, 'invalid-object', /"object"/);
      assertProblem(await send({}), 400, 'invalid-subject', /missing/);
      assertProblem(await send([]), 400, 'invalid-request');
    }
    assertProblem(await call('GET', `/tenants/${id}/objects?relation=viewer`), 400, 'invalid-subject');
    assertProblem(await call('GET', `/tenants/${id}/objects?subject=a:b&relation=x`), 400, 'invalid-relation');
    const namespace = `/tenants/${id}/objects?subject=a:b&relation=viewer&namespace=1`;
    assertProblem(await call('GET', namespace), 400, 'invalid-request', /"namespace"/);
    assertProblem(
      await call('GET', `/tenants/${id}/objects?subject=a:b&relation=viewer&cursor=x`),
      400,
      'invalid-cursor',
    );
  });

  test('namespaces are made once, and their bound is an error of its own', async () => {
    const id = await createTenant();
    const path = `/tenants/${id}/namespaces`;
    const created = await call('POST', path, { name: 'doc' });
    assert.equal(created.status, 201);
    const again = await call('POST', path, { name: 'doc' });
    assert.deepEqual([again.status, again.body], [200, created.body]);
    assert.deepEqual((await call('GET', path)).body, { namespaces: [created.body] });
    assertProblem(await call('POST', path, { name: '1' }), 400, 'invalid-request', /"name"/);
    service.operator.namespacesMax = 1;
    const refused = await call('POST', `/tenants/${id}/grants`, tuple('user:a', 'viewer', 'doc:a'));
    service.operator.namespacesMax = 1000;
    assertProblem(refused, 403, 'namespace-limit-reached');
  });
});

describe('import', () => {
  const line = (...parts: Parameters<typeof tuple>) => JSON.stringify(tuple(...parts));

  test('every line has a result under its number, and ill-formed ones do not touch the others', async () => {
    const id = await createTenant();
    const body = Buffer.concat([
      Buffer.from(`\ufeff${line('user:a', 'viewer', 'doc:a')}\r\n\n`),
      Buffer.from(`${line('user:a', 'viewer', 'doc:a')}\n{"subject":\n[]\n`),
      Buffer.from([0x7b, 0xff, 0x7d, 0x0a]),
      Buffer.from(`${line('nobody', 'viewer', 'doc:a')}\n${line('user:b', 'reader', 'doc:a')}\n`),
      Buffer.from(`{"__proto__":{"subject":"user:a"},"relation":"viewer","object":"doc:a"}\n`),
      Buffer.from(line('user:b', 'viewer', 'doc:b')),
    ]);
    const reply = await importLines(id, body);
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get('content-type'), 'application/x-ndjson');
    assert.deepEqual(
      linesOf(reply.text).map(({ line: number, result, type, detail }) => [
        number,
        result,
        type?.slice(ERRORS_BASE.length + 1),
        typeof detail,
      ]),
      [
        [1, 'created', undefined, 'undefined'],
        [3, 'exists', undefined, 'undefined'],
        [4, 'refused', 'invalid-request', 'string'],
        [5, 'refused', 'invalid-request', 'string'],
        [6, 'refused', 'invalid-request', 'string'],
        [7, 'refused', 'invalid-subject', 'string'],
        [8, 'refused', 'invalid-relation', 'string'],
        [9, 'refused', 'invalid-subject', 'string'],
        [10, 'created', undefined, 'undefined'],
      ],
    );
    const again = await importLines(id, body);
    assert.ok(linesOf(again.text).every(({ result }) => result !== 'created'));
  });

  test('a line refused by the tenant’s bounds is reported like any other', async () => {
    const id = await createTenant();
    service.operator.namespacesMax = 2;
    const reply = await importLines(id, `${line('u:a', 'viewer', 'd:a')}\n${line('u:a', 'viewer', 'e:a')}\n`);
    service.operator.namespacesMax = 1000;
    const results = linesOf(reply.text);
    assert.equal(results[0].result, 'created');
    assert.equal(results[1].type, `${ERRORS_BASE}/namespace-limit-reached`);
  });

  test('1,000 lines go in one call, 1,001 and more than 1 MiB do not', async () => {
    const id = await createTenant();
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => line('user:a', 'viewer', `doc:${index}`)).join('\n');
    assertProblem(await importLines(id, many(1001)), 413, 'payload-too-large', /1000 lines/);
    assertProblem(await importLines(id, ' '.repeat(1024 * 1024 + 1)), 413, 'payload-too-large');
    assert.equal((await call('GET', `/tenants/${id}/subjects`)).body.subjects.length, 0);
    assert.equal(linesOf((await importLines(id, many(1000))).text).length, 1000);
    const empty = await importLines(id, '');
    assert.deepEqual([empty.status, empty.text], [200, '']);
  });

  test('the body must say that it is NDJSON', async () => {
    const id = await createTenant();
    assertProblem(await call('POST', `/tenants/${id}/import`, '{}'), 415, 'unsupported-media-type', /x-ndjson/);
  });
});

describe('export', () => {
  test('gives every grant, ascending by bytes, in both formats', async () => {
    const id = await createTenant();
    const objects = ['doc:b', 'doc:a', 'doc:\u{1f98a}', 'doc:\uffee', 'doc:*'];
    for (const object of objects) await call('POST', `/tenants/${id}/grants`, tuple('user:a', 'viewer', object));
    const tsv = await call('GET', `/tenants/${id}/export?format=tsv`);
    assert.equal(tsv.headers.get('content-type'), 'text/tab-separated-values; charset=utf-8');
    const expected = objects.map((object) => `user:a\tviewer\t${object}`);
    expected.sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
    assert.equal(tsv.text, expected.map((text) => `${text}\n`).join(''));
    const ndjson = await call('GET', `/tenants/${id}/export`);
    assert.equal(ndjson.headers.get('content-type'), 'application/x-ndjson');
    const records = linesOf(ndjson.text);
    assert.deepEqual(Object.keys(records[0]), ['grant_id', 'subject', 'relation', 'object', 'created_at']);
    assert.deepEqual(
      records.map(({ subject, relation, object }) => `${subject}\t${relation}\t${object}`),
      expected,
    );
    assertProblem(await call('GET', `/tenants/${id}/export?format=csv`), 400, 'invalid-request', /"format"/);
  });

  const importMany = async (id: string, count: number): Promise<void> => {
    for (let start = 0; start < count; start += 1000) {
      const lines = Array.from({ length: 1000 }, (_, index) =>
        JSON.stringify(tuple('user:a', 'viewer', `doc:${'x'.repeat(200)}${start + index}`)),
      );
      await importLines(id, lines.join('\n'));
    }
  };

  test('a failure midway breaks the connection; one before the first byte is a problem', async () => {
    const id = await createTenant();
    await importMany(id, 3000);
    const fault = new GrantdError('unavailable', 'The owner is not there.');
    service.operator.faults.push(undefined, fault);
    const early = await call('GET', `/tenants/${id}/export`);
    assertProblem(early, 503, 'unavailable');
    assert.equal(early.headers.get('retry-after'), '1');
    service.operator.faults.push(undefined, undefined, undefined, fault);
    await assert.rejects(call('GET', `/tenants/${id}/export`));
  });

  test('pages are pulled no faster than the client reads, and no more once it has gone', async () => {
    const id = await createTenant();
    await importMany(id, 1000);
    service.operator.endlessExport = true;
    const pulled = () => service.operator.calls.filter(({ name }) => name === 'exportGrants').length;
    const pulledBefore = pulled();
    const controller = new AbortController();
    const response = await fetch(`${service.url}/operator/v1/tenants/${id}/export`, {
      headers: { Authorization: `Bearer ${OPERATOR_TOKEN}` },
      signal: controller.signal,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    // With nobody reading, the pulls stop once the sockets' buffers are full: a look-up later there are as many.
    let last = -1;
    for (let quiet = 0; quiet < 20; ) {
      await call('GET', '/plans');
      quiet = pulled() === last ? quiet + 1 : 0;
      last = pulled();
    }
    assert.ok(last - pulledBefore < 100, `${last - pulledBefore} pages were pulled with nobody reading`);
    controller.abort();
    for (let quiet = 0; quiet < 20; quiet += 1) await call('GET', '/plans');
    assert.ok(pulled() - last <= 1);
    service.operator.endlessExport = false;
  });
});

describe('the cluster', () => {
  test('plans, slots and members are listed', async () => {
    const { plans } = (await call('GET', '/plans')).body;
    assert.deepEqual(plans[0], {
      name: 'free',
      requests: 600,
      window_seconds: 60,
      namespaces_max: 1000,
      keys_max: 1000,
    });
    assert.equal(plans.at(-1).requests, null);
    service.operator.slots = [
      {
        slot: 3,
        epoch: 2,
        state: 'serving',
        logEnd: 9,
        checkpoint: 7,
        tenants: 1,
        incarnation: 'inc_a',
        shardName: 'shard-0',
      },
    ];
    service.operator.members = [
      { incarnation: 'inc_a', shardName: 'shard-0', address: '127.0.0.1:1', state: 'alive', beat: 4, startedAtMs: 0 },
    ];
    assert.deepEqual((await call('GET', '/slots')).body.slots, [
      {
        slot: 3,
        epoch: 2,
        state: 'serving',
        shard: 'shard-0',
        incarnation: 'inc_a',
        log_end: 9,
        checkpoint: 7,
        tenants: 1,
      },
    ]);
    assert.deepEqual((await call('GET', '/members')).body.members, [
      {
        incarnation: 'inc_a',
        shard: 'shard-0',
        address: '127.0.0.1:1',
        state: 'alive',
        started_at: '1970-01-01T00:00:00.000Z',
      },
    ]);
    assertProblem(await call('GET', '/plans?limit=1'), 400, 'invalid-request', /"limit"/);
  });
});
