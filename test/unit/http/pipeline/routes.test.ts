// The hint to the path that a client may have meant.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createNearPaths } from '../../../../src/http/pipeline/routes.ts';

const PATHS = [
  '/v1/check',
  '/v1/check/bulk',
  '/v1/keys',
  '/access/v1/evaluation',
  '/access/v1/evaluations',
  '/docs',
  '/',
];
const detailOf = createNearPaths(PATHS);

describe('the detail about a path at which there is nothing', () => {
  for (const [target, meant] of [
    ['/v1/checks', '/v1/check'],
    ['/check', '/v1/check'],
    ['/v1/check/', '/v1/check'],
    ['/V1/Check', '/v1/check'],
    ['//v1/check', '/v1/check'],
    ['/v1/checks/bulk?x=1', '/v1/check/bulk'],
    ['/key', '/v1/keys'],
    ['/v1/key', '/v1/keys'],
    ['/access/v1/evaluations/', '/access/v1/evaluations'],
    ['/doc', '/docs'],
  ] as const) {
    it(`names ${meant} for ${target}`, () => assert.ok(detailOf(target).includes(` ${meant}. `), detailOf(target)));
  }

  it('names none where none is near', () => {
    const plain = 'There is nothing at this path. The reference at /docs lists every path.';
    for (const target of ['/nothing', '/', '', '/v1', '/v2/check', `/v1/check/${'/'.repeat(200)}`]) {
      assert.equal(detailOf(target), plain, target);
    }
  });

  it('contains only paths of the service, whatever the target', () => {
    const details = new Set(['', ...PATHS].map((path) => detailOf(`${path}/`)));
    const target = fc.oneof(
      fc.string(),
      fc.constantFrom(...PATHS).chain((path) => fc.constant(`${path}s/`)),
    );
    fc.assert(fc.property(target, (text) => details.has(detailOf(text))));
  });
});
