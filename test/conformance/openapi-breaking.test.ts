// The comparison of two descriptions has teeth: each kind of breaking difference is refused, additions are let through.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { findBreakingChanges } from './openapi-breaking.ts';

const baseline = readFileSync(new URL('./openapi-baseline.json', import.meta.url), 'utf8');

type Node = Record<string, unknown>;

/** A document to change, and its nodes by path (`.` between names). */
const copyOf = (): Node => JSON.parse(baseline);
function nodeAt(root: Node, ...path: readonly (string | number)[]): Node {
  const found = path.reduce<unknown>((node, name) => (node as Node | undefined)?.[name], root);
  assert.ok(typeof found === 'object' && found !== null, path.join(' '));
  return found as Node;
}

function listAt(root: Node, ...path: readonly (string | number)[]): unknown[] {
  const found: unknown = nodeAt(root, ...path);
  assert.ok(Array.isArray(found), path.join(' '));
  return found;
}

const check = ['paths', '/v1/check', 'post'] as const;
const objects = ['paths', '/v1/objects', 'get'] as const;
const schemas = ['components', 'schemas'] as const;

const BREAKING: [string, (root: Node) => void][] = [
  ['a path removed', (root) => delete nodeAt(root, 'paths')['/v1/check']],
  [
    'a path renamed',
    (root) => {
      const paths = nodeAt(root, 'paths');
      paths['/v1/checks'] = paths['/v1/check'];
      delete paths['/v1/check'];
    },
  ],
  ['a method removed', (root) => delete nodeAt(root, 'paths', '/v1/grants').delete],
  [
    'a scope changed',
    (root) => {
      nodeAt(root, ...check).security = [{ apiKey: ['admin'] }];
    },
  ],
  ['a success status removed', (root) => delete nodeAt(root, 'paths', '/v1/grants', 'post', 'responses')['201']],
  ['an error status removed', (root) => delete nodeAt(root, 'paths', '/v1/grants', 'delete', 'responses')['404']],
  ['a type of error removed', (root) => listAt(root, ...schemas, 'Problem', 'properties', 'type', 'enum').shift()],
  ['a response field removed', (root) => delete nodeAt(root, ...schemas, 'CheckResult', 'properties').checked_at],
  [
    'a response field no longer always there',
    (root) => {
      nodeAt(root, ...schemas, 'CheckResult').required = ['authorized'];
    },
  ],
  [
    'the type of a response field changed',
    (root) => {
      nodeAt(root, ...schemas, 'CheckResult', 'properties', 'authorized').type = 'string';
    },
  ],
  [
    'a field of an element in a response removed',
    (root) => delete nodeAt(root, ...schemas, 'NamespaceList', 'properties', 'namespaces', 'items', 'properties').name,
  ],
  [
    'a response field that may be null now',
    (root) => {
      nodeAt(root, ...schemas, 'Grant', 'properties', 'created_at').type = ['string', 'null'];
    },
  ],
  [
    'the media type of a response changed',
    (root) => {
      nodeAt(root, ...check, 'responses', '200').content = { 'application/xml': {} };
    },
  ],
  [
    'a body where there was none',
    (root) => {
      nodeAt(root, 'paths', '/v1/grants', 'delete', 'responses', '204').content = { 'application/json': {} };
    },
  ],
  [
    'a response header removed',
    (root) => delete nodeAt(root, ...check, 'responses', '200', 'headers')['X-Service-Request-Id'],
  ],
  [
    'a response header no longer always there',
    (root) => {
      nodeAt(root, 'components', 'headers', 'RequestId').required = false;
    },
  ],
  ['a request field removed', (root) => delete nodeAt(root, ...schemas, 'KeyRequest', 'properties').name],
  [
    'a request field required that was optional',
    (root) => {
      nodeAt(root, ...schemas, 'KeyRequest').required = ['scopes', 'name'];
    },
  ],
  [
    'a new request field that is required',
    (root) => {
      nodeAt(root, ...schemas, 'NamespaceRequest', 'properties').owner = { type: 'string' };
      nodeAt(root, ...schemas, 'NamespaceRequest').required = ['name', 'owner'];
    },
  ],
  [
    'the type of a request field changed',
    (root) => {
      nodeAt(root, ...schemas, 'Tuple', 'properties', 'subject').type = 'integer';
    },
  ],
  [
    'a value of a request enum removed',
    (root) => {
      nodeAt(root, ...schemas, 'Tuple', 'properties', 'relation').enum = ['owner'];
    },
  ],
  [
    'a request enum that became a string without some of its values',
    (root) => {
      const relation = nodeAt(root, ...schemas, 'Tuple', 'properties', 'relation');
      relation.enum = undefined;
      relation.pattern = '^owner$';
    },
  ],
  [
    'a request field limited to an enum',
    (root) => {
      nodeAt(root, ...schemas, 'Tuple', 'properties', 'object').enum = ['a:b'];
    },
  ],
  [
    'a pattern changed',
    (root) => {
      nodeAt(root, ...schemas, 'Tuple', 'properties', 'subject').pattern = '^x$';
    },
  ],
  [
    'a length limited further',
    (root) => {
      nodeAt(root, ...schemas, 'Tuple', 'properties', 'subject').maxLength = 10;
    },
  ],
  [
    'fewer elements taken',
    (root) => {
      nodeAt(root, ...schemas, 'BulkCheck', 'properties', 'checks').maxItems = 99;
    },
  ],
  [
    'more elements needed',
    (root) => {
      nodeAt(root, ...schemas, 'BulkCheck', 'properties', 'checks').minItems = 1;
    },
  ],
  [
    'an alternative of a request field removed',
    (root) => {
      nodeAt(root, ...schemas, 'KeyRequest', 'properties', 'expires_at').anyOf = [{ type: 'null' }];
    },
  ],
  ['a request body removed', (root) => delete nodeAt(root, ...check).requestBody],
  [
    'a media type of a request removed',
    (root) => {
      nodeAt(root, ...check, 'requestBody').content = {};
    },
  ],
  [
    'a body required where there was none',
    (root) => {
      nodeAt(root, ...objects).requestBody = { required: true, content: {} };
    },
  ],
  ['a parameter removed', (root) => listAt(root, ...objects, 'parameters').pop()],
  [
    'a parameter required that was optional',
    (root) => {
      nodeAt(root, ...objects, 'parameters', 2).required = true;
    },
  ],
  [
    'a new parameter that is required',
    (root) => {
      listAt(root, ...objects, 'parameters').push({ name: 'x', in: 'query', required: true, schema: {} });
    },
  ],
  [
    'a smaller maximum of a parameter',
    (root) => {
      nodeAt(root, ...objects, 'parameters', 3, 'schema').maximum = 500;
    },
  ],
  [
    'another default of a parameter',
    (root) => {
      nodeAt(root, ...objects, 'parameters', 3, 'schema').default = 50;
    },
  ],
];

const ADDITIVE: [string, (root: Node) => void][] = [
  ['nothing', () => {}],
  [
    'a new path',
    (root) => {
      nodeAt(root, 'paths')['/v1/new'] = { get: { responses: {} } };
    },
  ],
  [
    'a new method',
    (root) => {
      nodeAt(root, 'paths', '/v1/check').get = { responses: {} };
    },
  ],
  [
    'a new response field',
    (root) => {
      nodeAt(root, ...schemas, 'CheckResult', 'properties').reason = { type: 'string' };
    },
  ],
  [
    'a new optional request field',
    (root) => {
      nodeAt(root, ...schemas, 'Tuple', 'properties').caveat = { type: 'string' };
    },
  ],
  [
    'a new value of a request enum',
    (root) => {
      listAt(root, ...schemas, 'Tuple', 'properties', 'relation', 'enum').push('auditor');
    },
  ],
  [
    'a new optional parameter',
    (root) => {
      listAt(root, ...objects, 'parameters').push({ name: 'x', in: 'query', schema: {} });
    },
  ],
  [
    'a greater maximum',
    (root) => {
      nodeAt(root, ...objects, 'parameters', 3, 'schema').maximum = 5000;
    },
  ],
  [
    'a new type of error',
    (root) => {
      listAt(root, ...schemas, 'Problem', 'properties', 'type', 'enum').push('/errors/new');
    },
  ],
  [
    'a new response header',
    (root) => {
      nodeAt(root, ...check, 'responses', '200', 'headers')['X-New'] = { schema: { type: 'string' } };
    },
  ],
  [
    'other words',
    (root) => {
      nodeAt(root, ...check).description = 'Other words.';
      nodeAt(root, 'info').version = '1.1.0';
    },
  ],
];

describe('the comparison with the published interface', () => {
  for (const [what, mutate] of BREAKING) {
    it(`refuses ${what}`, () => {
      const changed = copyOf();
      mutate(changed);
      assert.notDeepEqual(findBreakingChanges(copyOf(), changed), []);
    });
  }
  it('refuses unknown fields refused', () => {
    const open = copyOf();
    delete nodeAt(open, ...schemas, 'Tuple').additionalProperties;
    assert.notDeepEqual(findBreakingChanges(open, copyOf()), []);
  });
  for (const [what, mutate] of ADDITIVE) {
    it(`lets through ${what}`, () => {
      const changed = copyOf();
      mutate(changed);
      assert.deepEqual(findBreakingChanges(copyOf(), changed), []);
    });
  }
  describe('of types of errors by their codes', () => {
    const typeOf = (root: Node): Node => nodeAt(root, ...schemas, 'Problem', 'properties', 'type');
    const opened = (): Node => {
      const root = copyOf();
      const type = typeOf(root);
      const codes = listAt(type, 'enum').map((uri) => String(uri).replace('/errors/', ''));
      delete type.enum;
      type['x-error-codes'] = codes;
      return root;
    };
    it('lets through an enum that becomes an open string with all of them named', () => {
      assert.deepEqual(findBreakingChanges(copyOf(), opened()), []);
    });
    it('refuses one that names no longer all of them, before and after', () => {
      const less = opened();
      listAt(typeOf(less), 'x-error-codes').shift();
      assert.notDeepEqual(findBreakingChanges(copyOf(), less), []);
      assert.notDeepEqual(findBreakingChanges(opened(), less), []);
    });
    it('refuses an open string that is closed', () => {
      assert.notDeepEqual(findBreakingChanges(opened(), copyOf()), []);
    });
    it('lets through a new one', () => {
      const more = opened();
      listAt(typeOf(more), 'x-error-codes').push('new-one');
      assert.deepEqual(findBreakingChanges(opened(), more), []);
    });
  });

  it('names the place of each difference', () => {
    const changed = copyOf();
    delete nodeAt(changed, ...schemas, 'CheckResult', 'properties').checked_at;
    nodeAt(changed, ...check, 'requestBody', 'content', 'application/json').schema = { type: 'array' };
    const changes = findBreakingChanges(copyOf(), changed);
    assert.ok(changes.includes('POST /v1/check 200 checked_at: removed'), changes.join('\n'));
    assert.ok(changes.includes('POST /v1/check body: type changed'), changes.join('\n'));
  });
});
