// The committed description of the interface: up to date, valid, complete, and never broken for those who use it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ERROR_CATALOGUE } from '../../src/core/errors.ts';
import { committedOpenapiText, createOpenapiDocument } from '../../src/http/openapi/openapi.ts';
import { findBreakingChanges } from './openapi-breaking.ts';

const readText = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const committed = readText('../../docs/reference/openapi.json');
/** The interface as it was last released. A release adds to it; nothing is taken out while the path prefix stays. */
const baseline = readText('./openapi-baseline.json');

type Node = Record<string, unknown>;

function nodeAt(root: Node, ...path: readonly string[]): Node {
  const found = path.reduce<unknown>((node, name) => (node as Node | undefined)?.[name], root);
  assert.ok(typeof found === 'object' && found !== null, path.join(' '));
  return found as Node;
}

describe('docs/reference/openapi.json', () => {
  it('is what the schemas say (npm run generate -- docs)', () => assert.equal(committed, committedOpenapiText()));

  it('is a valid OpenAPI 3.1 document', async () => {
    const result = await new Validator().validate(JSON.parse(committed));
    assert.ok(result.valid, JSON.stringify(result.errors));
  });

  it('names no machine', () => assert.doesNotMatch(committed, /localhost|127\.0\.0\.1|https?:\/\//));

  it('documents every type of error that a client of this interface can meet', () => {
    const type = nodeAt(JSON.parse(committed), 'components', 'schemas', 'Problem', 'properties', 'type');
    assert.deepEqual(type['x-error-codes'], Object.keys(ERROR_CATALOGUE));
    for (const code of Object.keys(ERROR_CATALOGUE)) assert.ok(String(type.description).includes(`\`${code}\``), code);
  });

  it('gives every response its headers and every operation an example', () => {
    const document: Node = JSON.parse(committed);
    for (const [path, operations] of Object.entries(nodeAt(document, 'paths'))) {
      for (const [method, operation] of Object.entries(operations as Node)) {
        const { responses, requestBody } = operation as Node;
        for (const [status, response] of Object.entries(responses as Node)) {
          const where = `${method} ${path} ${status}`;
          const { headers } = response as { headers: Node };
          assert.ok('X-Service-Request-Id' in headers, where);
          if (status === '401') assert.ok('WWW-Authenticate' in headers, where);
          else if (status !== '431') assert.ok('X-Service-RateLimit-Limit' in headers, where);
          if (status === '429' || status === '503') assert.ok('Retry-After' in headers, where);
        }
        for (const status of ['400', '401', '403', '408', '429', '431', '500', '503']) {
          assert.ok(status in (responses as Node), `${method} ${path} documents ${status}`);
        }
        if (requestBody !== undefined) {
          assert.ok('example' in nodeAt(requestBody as Node, 'content', 'application/json'), `${method} ${path}`);
          for (const status of ['413', '415']) assert.ok(status in (responses as Node), `${method} ${path} ${status}`);
        }
      }
    }
  });

  it('leaves the type of an error open, and says the same wherever the service is', () => {
    assert.ok(!('enum' in nodeAt(JSON.parse(committed), 'components', 'schemas', 'Problem', 'properties', 'type')));
    assert.doesNotMatch(committed, /"enum": \[\s*"\/errors/);
    const addresses = { serverUrl: 'https://authz.example', errorsBase: 'https://errors.example/e' };
    const served: Node = createOpenapiDocument(addresses);
    const document: Node = JSON.parse(committed);
    assert.deepEqual(JSON.parse(JSON.stringify(served.paths)), document.paths);
    assert.deepEqual(
      JSON.parse(JSON.stringify(nodeAt(served, 'components', 'schemas'))),
      nodeAt(document, 'components', 'schemas'),
    );
  });

  it('gives every operation a tag that is described', () => {
    const document: Node = JSON.parse(committed);
    const described = (document.tags as { name: string; description: string }[]).map(({ name }) => name);
    const used = Object.values(nodeAt(document, 'paths')).flatMap((operations) =>
      Object.values(operations as Node).flatMap((operation) => {
        const { tags } = operation as { tags: string[] };
        assert.equal(tags.length, 1);
        return tags;
      }),
    );
    assert.deepEqual(new Set(used), new Set(described));
  });

  it('has one schema for each thing, to which everything else refers', () => {
    const schemas = nodeAt(JSON.parse(committed), 'components', 'schemas');
    const places = new Map<string, string>();
    const visit = (value: unknown, place: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const { properties, enum: values } = value as Node;
      // An object or an enum; a plain text with a bound is no thing.
      if (properties !== undefined || values !== undefined) {
        const text = JSON.stringify(value);
        assert.equal(places.get(text), undefined, `${place} is ${places.get(text)}`);
        places.set(text, place);
      }
      for (const [name, each] of Object.entries(value)) visit(each, `${place}.${name}`);
    };
    visit(schemas, 'schemas');
    const parameters = Object.values(nodeAt(JSON.parse(committed), 'paths')).flatMap((operations) =>
      Object.values(operations as Node).map((operation) => (operation as Node).parameters),
    );
    visit(parameters, 'parameters');
    for (const name of ['Tuple', 'Key', 'Namespace', 'Grant', 'Relation', 'Scope']) assert.ok(name in schemas, name);
    const itemsOf = (name: string, field: string) => nodeAt(schemas, name, 'properties', field, 'items');
    assert.deepEqual(itemsOf('BulkCheck', 'checks'), { $ref: '#/components/schemas/Question' });
    assert.deepEqual(itemsOf('KeyList', 'keys'), { $ref: '#/components/schemas/Key' });
  });

  it('names the paths that are announced and not served, and both RFCs of problem documents', () => {
    const document: Node = JSON.parse(committed);
    for (const path of ['authorize', 'token', 'revoke', 'introspect']) {
      assert.ok(String(nodeAt(document, 'info').description).includes(`/v1/oauth/${path}`), path);
      assert.ok(!(`/v1/oauth/${path}` in nodeAt(document, 'paths')));
    }
    const { description } = nodeAt(document, 'components', 'schemas', 'Problem');
    assert.match(String(description), /RFC 9457.*RFC 7807/);
  });

  it('breaks no client of the published interface', () => {
    assert.deepEqual(findBreakingChanges(JSON.parse(baseline), JSON.parse(committed)), []);
  });
});
