// Each operation at each of the two doors: what the pipeline refuses, it refuses alike and before anything is done; and
// what both doors have does the same and says the same at both.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { OPERATIONS } from '../../src/http/operation-table.ts';
import type { OperationBody } from '../../src/http/operations/operation.ts';
import { EXAMPLE_TUPLE } from '../../src/http/schema/examples.ts';
import type { OperationDescription } from '../../src/http/schema/operation-description.ts';
import { createOperatorOperations } from '../../src/operator/api/operation-table.ts';
import { type Answer, call } from '../kit/http-client.ts';
import type { HttpService } from '../kit/http-service.ts';
import { oneService } from './support/one-service.ts';
import { requestOf } from './support/requests.ts';

const TUPLE = { subject: 'user:ann', relation: 'viewer', object: 'document:1' };

let service: HttpService;
let tenant: { readonly tenantId: string; readonly key: string };
before(async () => {
  service = await oneService();
  tenant = await service.createTenant('scale');
  assert.equal((await send(PUBLIC, { method: 'POST', path: '/v1/grants', body: JSON.stringify(TUPLE) })).status, 201);
});

interface Door {
  readonly name: string;
  readonly operations: readonly (OperationDescription & { readonly body?: OperationBody })[];
  readonly prefix: string;
  at(): { readonly url: string; readonly key: string };
}

const PUBLIC: Door = {
  name: 'the public API',
  operations: OPERATIONS,
  prefix: '',
  at: () => ({ url: service.baseUrl, key: tenant.key }),
};
const OPERATOR: Door = {
  name: "the operator's API",
  operations: createOperatorOperations(),
  prefix: '/operator/v1',
  at: () => ({ url: service.consoleUrl, key: service.operatorToken }),
};

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

function send({ at, prefix }: Door, { method, path, body, headers }: Sent): Promise<Answer> {
  const { url, key } = at();
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return call(url, { method, path: `${prefix}${path}`, key, headers: { ...type, ...headers }, ...(body && { body }) });
}

/** Everything that a request could change. */
async function state(): Promise<string> {
  const of = `/tenants/${tenant.tenantId}`;
  const paths = ['/tenants', of, `${of}/audit-log?limit=1000`, `${of}/keys`, `${of}/rules`];
  const answers = await Promise.all(paths.map((path) => send(OPERATOR, { method: 'GET', path })));
  return [...answers.map(({ text }) => text), ...(await entriesOfAll())]
    .join('\n')
    .replaceAll(/"(?:last_used_at|next_cursor|resume_cursor)":(?:null|"[^"]*")/g, '');
}

/** The log of all tenants to its end: how far one page comes depends on the time that it takes. */
async function entriesOfAll(): Promise<string[]> {
  const found: string[] = [];
  let page: { entries: object[]; next_cursor: string; at_end: boolean } | undefined;
  while (page?.at_end !== true) {
    const cursor = page === undefined ? '' : `?cursor=${page.next_cursor}`;
    page = JSON.parse((await send(OPERATOR, { method: 'GET', path: `/audit-log${cursor}` })).text);
    found.push(...(page?.entries ?? []).map((entry) => JSON.stringify(entry)));
  }
  return found.sort();
}

for (const door of [PUBLIC, OPERATOR]) {
  describe(`an operation of ${door.name}`, () => {
    for (const operation of door.operations) {
      const { id, query = {}, body } = operation;
      it(`${id} refuses what it does not take, and does nothing then`, async () => {
        const { search: _, ...request } = requestOf(operation, tenant.tenantId);
        const before = await state();
        const refuse = async (changed: Partial<Sent>, status: number, detail: RegExp): Promise<void> => {
          const { text, ...answer } = await send(door, { ...request, ...changed });
          assert.deepEqual([answer.status, detail.test(text)], [status, true], `${JSON.stringify(changed)}: ${text}`);
        };
        const unknown = ['nonsense=1', 'dry-run=true', 'Dry_run=true', '%64ry_run%20=true', '__proto__=1'];
        if (!('dry_run' in query)) unknown.push('dry_run=true', 'dry_run=false', 'dry_run');
        for (const text of unknown) {
          await refuse({ path: `${request.path}?${text}` }, 400, /The query parameter \\"[^"]*\\" is unknown; /);
        }
        for (const name of Object.keys(query)) {
          await refuse({ path: `${request.path}?${name}=true&${name}=true` }, 400, /\\"\w+\\" is repeated/);
        }
        await refuse({ method: 'OPTIONS' }, 405, /method-not-allowed/);
        if (body !== undefined) {
          await refuse({ headers: { 'content-type': 'text/plain' } }, 415, /it has \\"text\/plain\\"/);
          await refuse({ headers: { ...request.headers, 'content-encoding': 'gzip' } }, 415, /content encoding/);
          await refuse(
            { body: ' '.repeat(body.bytesMax + 1) },
            413,
            new RegExp(`larger than ${body.bytesMax / 1024} KiB`),
          );
        }
        if (body !== undefined && body.lines !== true) {
          await refuse({ body: '{"a":1' }, 400, /not valid JSON/);
          await refuse({ body: '[]' }, 400, /must be a JSON object/);
        }
        assert.equal(await state(), before);
      });
    }
  });
}

const CASES: readonly {
  readonly status: number;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}[] = [
  { status: 400, method: 'GET', path: '/grants?subject=user:ann&relation=undeclared' },
  { status: 400, method: 'GET', path: '/grants?subject=user:ann&cursor=none' },
  { status: 400, method: 'GET', path: '/changes?relation=big%20boss' },
  { status: 400, method: 'GET', path: '/changes?relation=undeclared' },
  { status: 400, method: 'POST', path: '/grants', body: { ...TUPLE, relation: 'Viewer' } },
  { status: 400, method: 'POST', path: '/grants', body: { ...TUPLE, expires_at: '2020-01-01T00:00:00Z' } },
  { status: 200, method: 'POST', path: '/grants/revoke?dry_run=true', body: { subject: 'user:ann' } },
  { status: 400, method: 'POST', path: '/check', body: { ...TUPLE, relation: 'undeclared' } },
  { status: 400, method: 'POST', path: '/keys', body: { scopes: ['admin'], expires_at: '2020-01-01T00:00:00Z' } },
];

/** Each operation that both doors have, as each of them has it. */
const MOUNTED = OPERATIONS.flatMap((operation) =>
  OPERATOR.operations
    .filter(({ method, successes }) => method === operation.method && successes === operation.successes)
    .map((mounted) => ({ operation, mounted })),
);

/** Without what is another one in each tenant, in each call and for each actor. */
const comparable = ({ status, headers, text }: Answer): object => ({
  status,
  headers: ['content-type', 'etag', 'x-service-warning'].map((name) => headers[name]),
  feed: 'x-service-cursor' in headers,
  text: text
    .replaceAll(/\b(key|grt|req|ten)_[0-9a-z]{26}\b|\bgk1_\w{81}\b/g, '$1')
    .replaceAll(/"(actor|\w+_at|at|time)":"[^"]*"/g, '"$1":""')
    // Tenants may share a slot.
    .replaceAll(/"(seq|through)":\d+/g, '"$1":0'),
});

describe('a request of both APIs', () => {
  it('does the same to a tenant of its own, each after the same others', async () => {
    assert.ok(MOUNTED.length > 15);
    const [one, other] = [await service.createTenant('scale'), await service.createTenant('scale')];
    const atPublic = { ...PUBLIC, at: () => ({ url: service.baseUrl, key: one.key }) };
    const grants = ['viewer', 'editor'].map((relation) => ({ ...EXAMPLE_TUPLE, relation }));
    for (const { key } of [one, other]) {
      const made = await service.send({ method: 'POST', path: '/v1/grants/bulk', key, body: { grants } });
      assert.equal(made.status, 200, made.text);
    }
    for (const { operation, mounted } of MOUNTED) {
      const [asked, askedByOperator] = [requestOf(operation), requestOf(mounted, other.tenantId)];
      const said = await send(atPublic, { ...asked, path: asked.path + asked.search });
      const saidToOperator = await send(OPERATOR, {
        ...askedByOperator,
        path: askedByOperator.path + askedByOperator.search,
      });
      assert.ok(said.status < 300 || said.status === 404, `${operation.id}: ${said.text}`);
      assert.deepEqual(comparable(saidToOperator), comparable(said), operation.id);
    }
  });

  for (const { status, method, path, body } of CASES) {
    it(`has one answer: ${method} ${path} ${JSON.stringify(body ?? '')}`, async () => {
      const request = { method, ...(body && { body: JSON.stringify(body) }) };
      const one = await send(PUBLIC, { ...request, path: `/v1${path}` });
      const other = await send(OPERATOR, { ...request, path: `/tenants/${tenant.tenantId}${path}` });
      const shown = ({ status: of, headers, text }: Answer): object => {
        const { instance: _, ...said } = JSON.parse(text);
        return { of, said, has: ['x-service-cursor', 'x-service-warning'].filter((name) => name in headers) };
      };
      assert.equal(one.status, status, one.text);
      assert.deepEqual(shown(other), shown(one));
    });
  }
});
