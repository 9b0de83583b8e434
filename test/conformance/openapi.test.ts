// The committed description of the interface: up to date, valid, complete, and never broken for those who use it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ERROR_CATALOGUE } from '../../src/core/errors.ts';
import { committedOpenapiText } from '../../src/http/committed-openapi.ts';
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
  it('is what the schemas say (node scripts/write-openapi.ts)', () => assert.equal(committed, committedOpenapiText()));

  it('is a valid OpenAPI 3.1 document', async () => {
    const result = await new Validator().validate(JSON.parse(committed));
    assert.ok(result.valid, JSON.stringify(result.errors));
  });

  it('names no machine', () => assert.doesNotMatch(committed, /localhost|127\.0\.0\.1|https?:\/\//));

  it('documents every type of error that a client of this interface can meet', () => {
    const documented = new Set([...committed.matchAll(/"\/errors\/([a-z-]+)"/g)].map(([, code]) => code));
    for (const code of Object.keys(ERROR_CATALOGUE)) assert.ok(documented.has(code), code);
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

  it('breaks no client of the published interface', () => {
    assert.deepEqual(findBreakingChanges(JSON.parse(baseline), JSON.parse(committed)), []);
  });
});
