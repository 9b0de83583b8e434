// Data in and out of a tenant over the operator's API, on an operator's front in memory.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import { ERRORS_BASE, OPERATOR_TOKEN, useConsole } from '../../../kit/console-service.ts';
import { assertProblem, callOperator, GRANT_FIELDS, type Reply } from '../operator-call.ts';

const service = await useConsole();

const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> =>
  callOperator(service.url, method, path, body, headers);

async function createTenant(name = 'Acme'): Promise<string> {
  const reply = await call('POST', '/tenants', { name });
  assert.equal(reply.status, 201);
  return reply.body.tenant_id;
}

const tuple = (subject: string, relation: string, object: string) => ({ subject, relation, object });
const importLines = (id: string, body: string | Uint8Array, query = '') =>
  call('POST', `/tenants/${id}/import${query}`, body, { 'Content-Type': 'application/x-ndjson' });
const linesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const grantsOf = (text: string) => linesOf(text).slice(1, -1);

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
        [3, 'unchanged', undefined, 'undefined'],
        [4, 'refused', 'invalid-request', 'string'],
        [5, 'refused', 'invalid-request', 'string'],
        [6, 'refused', 'invalid-request', 'string'],
        [7, 'refused', 'invalid-subject', 'string'],
        [8, 'refused', 'invalid-relation', 'string'],
        [9, 'refused', 'invalid-request', 'string'],
        [10, 'created', undefined, 'undefined'],
      ],
    );
    const again = await importLines(id, body);
    assert.ok(linesOf(again.text).every(({ result }) => result !== 'created'));
    const empty = await importLines(id, '');
    assert.deepEqual([empty.status, empty.text], [200, '']);
  });

  // What they do, the tests of `grantd import` say.
  test('its parameters have the values that are documented, and no other', async () => {
    const id = await createTenant();
    const body = line('user:a', 'viewer', 'doc:a');
    for (const [name, wrong] of [
      ['replace', ['=yes', '', '=true&replace=true']],
      ['outside_types', ['=drop', '=', '=true', '=keep&outside_types=keep']],
    ] as const) {
      for (const value of wrong) {
        const refused = await importLines(id, body, `?${name}${value}`);
        assertProblem(refused, 400, 'invalid-request', new RegExp(name));
      }
    }
    assert.deepEqual(linesOf((await importLines(id, body, '?replace=false')).text), [{ line: 1, result: 'created' }]);
  });

  test('grants that the types of the rules exclude are refused, unless the call keeps them; nothing else is let through', async () => {
    const id = await createTenant();
    const rules = { types: [{ namespace: 'doc', relation: 'viewer', subjects: ['user'] }], rules: [] };
    assert.equal((await call('PUT', `/tenants/${id}/rules`, rules)).status, 200);
    const capped = { ...tuple('bot:a', 'viewer', 'doc:b'), condition: { name: 'capped' } };
    const body = [
      line('bot:a', 'viewer', 'doc:a'),
      line('bot:a', 'reader', 'doc:a'),
      JSON.stringify(capped),
      line('user:a', 'viewer', 'doc:a'),
    ].join('\n');
    const types = async (query: string) =>
      linesOf((await importLines(id, body, query)).text).map(
        ({ result, type }) => type?.slice(ERRORS_BASE.length + 1) ?? result,
      );
    const others = ['invalid-relation', 'invalid-condition'];
    assert.deepEqual(await types(''), ['type-not-allowed', ...others, 'created']);
    assert.deepEqual(await types('?outside_types=keep'), ['created', ...others, 'unchanged']);
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

  test('what begins or ends as an export is taken whole, or not at all', async () => {
    const id = await createTenant();
    for (const object of ['doc:a', 'doc:b']) await importLines(id, line('user:a', 'viewer', object));
    const { text } = await call('GET', `/tenants/${id}/export`);
    const [head = '', first = '', second = ''] = text.split('\n');
    const other = await createTenant();
    const cut = await importLines(other, [head, first, second].join('\n'));
    assertProblem(
      cut,
      400,
      'invalid-request',
      /Line 1 begins an export that has no end line: it was cut behind 2 grants/,
    );
    assert.deepEqual(grantsOf((await call('GET', `/tenants/${other}/export`)).text), []);
    const results = linesOf((await importLines(other, text)).text);
    assert.deepEqual(results, [
      { line: 2, result: 'created' },
      { line: 3, result: 'created' },
    ]);
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
    for (const { headers } of [tsv, ndjson]) {
      const cursor = headers.get('x-service-cursor');
      assert.deepEqual((await call('GET', `/tenants/${id}/changes?cursor=${cursor}`)).body.changes, []);
    }
    assert.equal(ndjson.headers.get('content-type'), 'application/x-ndjson');
    const records = grantsOf(ndjson.text);
    assert.deepEqual(Object.keys(records[0]), GRANT_FIELDS);
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

  test('a failure midway is an error also for HTTP/1.0, whose bodies end with the connection', async () => {
    const id = await createTenant();
    await importMany(id, 3000);
    for (const [format, reads] of Object.entries({ ndjson: 2, tsv: 1 })) {
      const faults = Array.from({ length: reads + 1 }, () => undefined);
      service.operator.faults.push(...faults, new GrantdError('unavailable', 'The owner is not there.'));
      const { hostname, port } = new URL(service.url);
      const socket = connect(Number(port), hostname);
      const headers = `Host: ${hostname}\r\nAuthorization: Bearer ${OPERATOR_TOKEN}`;
      socket.write(`GET /operator/v1/tenants/${id}/export?format=${format} HTTP/1.0\r\n${headers}\r\n\r\n`);
      let received = '';
      socket.setEncoding('utf8').on('data', (text: string) => {
        received += text;
      });
      await assert.rejects(once(socket, 'end'), { code: 'ECONNRESET' });
      assert.doesNotMatch(received, /^HTTP\/1\.1 (?!200)/);
    }
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
    // With nobody reading, the pulls stop once the sockets' buffers are full: a lookup later there are as many.
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
