// Scopes: three bits that are part of what is stored, so their values are fixed.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ALL_SCOPES, hasScope, SCOPES, scopeMask, scopesOf } from '../../../src/core/scopes.ts';

describe('scopes', () => {
  it('have these bits', () => {
    assert.deepEqual(
      SCOPES.map((scope) => [scope, scopeMask([scope])]),
      [
        ['check:read', 1],
        ['grant:write', 2],
        ['admin', 4],
      ],
    );
    assert.equal(ALL_SCOPES, 7);
  });

  it('come back from their mask in the order of the table, each once', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...SCOPES)), (scopes) => {
        assert.deepEqual(
          scopesOf(scopeMask(scopes)),
          SCOPES.filter((scope) => scopes.includes(scope)),
        );
      }),
    );
  });

  it('do not imply one another', () => {
    for (const held of SCOPES) {
      for (const asked of SCOPES) assert.equal(hasScope(scopeMask([held]), asked), held === asked);
    }
    for (const asked of SCOPES) {
      assert.ok(!hasScope(0, asked));
      assert.ok(hasScope(ALL_SCOPES, asked));
    }
  });
});
