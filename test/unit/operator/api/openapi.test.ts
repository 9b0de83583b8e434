// The description of the operator's API: up to date, valid, served, and of exactly the routes that there are.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { z } from 'zod';
import { operatorOpenapiText } from '../../../../scripts/docs/operator-openapi.ts';
import { OPERATIONS } from '../../../../src/http/operation-table.ts';
import { createOperatorOpenapi } from '../../../../src/operator/api/operator-openapi.ts';
import { useConsole } from '../../../kit/console-service.ts';
import { readCode, readText } from '../../../kit/source-tree.ts';
import { assertDocumented } from '../documented-answers.ts';
import { callOperator } from '../operator-call.ts';

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

const service = await useConsole();
const committed = readText('docs/reference/operator-openapi.json');
const described: Described = JSON.parse(committed);
const PREFIX = '/operator/v1';

describe('docs/reference/operator-openapi.json', () => {
  it('is what the schemas say (npm run generate -- docs)', () => assert.equal(committed, operatorOpenapiText()));

  it('is a valid OpenAPI 3.1 document that names no machine', async () => {
    const result = await new Validator().validate(JSON.parse(committed));
    assert.ok(result.valid, JSON.stringify(result.errors));
    assert.doesNotMatch(committed, /localhost|127\.0\.0\.1|https?:\/\//);
  });

  it('is what the console serves, but for the addresses of the errors', async () => {
    const served = await callOperator(service.url, 'GET', '/openapi.json');
    assert.equal(served.status, 200);
    assert.deepEqual(served.body.paths, described.paths);
  });

  it('has the methods that each of its paths accepts', async () => {
    for (const [path, operations] of Object.entries(described.paths)) {
      const refused = await callOperator(service.url, 'OPTIONS', path.slice(PREFIX.length).replaceAll(/[{}]/g, ''));
      assert.equal(refused.status, 405, path);
      const methods = Object.keys(operations).map((method) => method.toUpperCase());
      const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
      assert.equal(refused.headers.get('allow'), allowed.sort().join(', '), path);
    }
  });

  it('has every operation that the code has, each once, with an id of its own', () => {
    const code = [...readCode(['src/operator/api/operations'])].map(([, text]) => text).join('\n');
    const written = [...code.matchAll(/^ +id: '(\w+)',$/gm)].map(([, id = '']) => id);
    const ids = Object.values(described.paths).flatMap((operations) =>
      Object.values(operations).map(({ operationId }) => operationId),
    );
    assert.ok(ids.length > 30);
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(
      written.filter((id) => !ids.includes(id)),
      [],
    );
  });

  it('cannot be made with a parameter that nothing describes', () => {
    const operation = {
      id: 'x',
      method: 'GET',
      path: '/x',
      tag: 'Tenants',
      summary: 'X',
      successes: [],
      access: 'read-only',
      answer: () => assert.fail('it is not called'),
    } as const;
    const withPath = { ...operation, path: '/x/{unknownId}' };
    assert.throws(() => createOperatorOpenapi([withPath], '/errors'), /unknownId is documented/);
    const withQuery = { ...operation, query: { unknown: z.string() } };
    assert.throws(() => createOperatorOpenapi([withQuery], '/errors'), /unknown is documented/);
  });

  it('holds every answer of the tests, so that a field more or a status of another kind is found', () => {
    const headers = { 'content-type': 'application/json' };
    const answer = (body: object, status = 200): void => {
      assertDocumented('GET', '/plans', new Response(null, { status, headers }), JSON.stringify(body));
    };
    answer({ plans: [] });
    assert.throws(() => answer({ plans: [], more: 1 }), /must NOT have additional properties/);
    assert.throws(() => answer({}), /must have required property/);
    assert.throws(() => answer({ plans: [] }, 201), /is not documented/);
  });

  it('has every path in the page for operators that is not the same as under /v1/', () => {
    const page = readText('docs/reference/operator-api.md');
    const tenantPaths = OPERATIONS.map(({ path }) => path.replace('/v1', '/tenants/{id}'));
    const written = Object.keys(described.paths).map((path) => path.slice(PREFIX.length).replace('{tenantId}', '{id}'));
    const missing = written.filter((path) => !tenantPaths.includes(path) && !page.includes(path));
    assert.deepEqual(missing, []);
  });
});
