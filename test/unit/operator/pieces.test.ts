// The console's parts without HTTP: tokens, the lines of an import.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WRITES_PER_CALL_MAX } from '../../../src/core/limits.ts';
import { parseLines } from '../../../src/operator/api/operations/import-export.ts';
import { createOperatorTokens, hashOperatorToken } from '../../../src/operator/operator-tokens.ts';

describe('operator tokens', () => {
  const tokens = createOperatorTokens([
    { name: 'ann', sha256: hashOperatorToken('token-of-ann'), access: 'full' },
    { name: 'bob', sha256: hashOperatorToken('token-of-bob').toUpperCase(), access: 'read-only' },
  ]);

  test('a token is known by its sum, by nothing else', () => {
    assert.deepEqual(tokens.identify('token-of-ann'), { name: 'ann', access: 'full' });
    assert.deepEqual(tokens.identify('token-of-bob'), { name: 'bob', access: 'read-only' });
    for (const token of ['', 'token-of-an', 'token-of-ann ', hashOperatorToken('token-of-ann'), 'ann']) {
      assert.equal(tokens.identify(token), undefined, token);
    }
    assert.equal(createOperatorTokens([]).identify(''), undefined);
  });

  test('an ill-formed sum is a defect', () => {
    assert.throws(() => createOperatorTokens([{ name: 'ann', sha256: 'abc', access: 'full' }]));
  });
});

describe('the lines of an import', () => {
  const CHOICES = { keepsExisting: true, keepsOutside: false };

  test('a body of empty lines has none', () => {
    assert.deepEqual(parseLines(Buffer.from('\n'.repeat(1024 * 1024)), 0, CHOICES), []);
  });

  test('ill-formed lines count towards the bound too', () => {
    assert.equal(parseLines(Buffer.from('x\n'.repeat(WRITES_PER_CALL_MAX)), 0, CHOICES).length, WRITES_PER_CALL_MAX);
    assert.throws(() => parseLines(Buffer.from('x\n'.repeat(WRITES_PER_CALL_MAX + 1)), 0, CHOICES), {
      code: 'payload-too-large',
    });
  });
});
