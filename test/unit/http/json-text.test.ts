// JSON text: what is taken, and that the place of an error is where the engine stops too.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { findJsonError, parseJson } from '../../../src/http/json-text.ts';

const breaks = (text: string): boolean => {
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
};

describe('parseJson', () => {
  const cases: [string, string][] = [
    ['{"a": x}', 'unexpected character at line 1, column 7'],
    ['{\n  "a": 1,\n}', 'unexpected character at line 3, column 1'],
    ['{"a": 1', 'it ends too early, at line 1, column 8'],
    ['[1,]', 'unexpected character at line 1, column 4'],
    ['{"a" 1}', 'unexpected character at line 1, column 6'],
    ['{"a": 01}', 'unexpected character at line 1, column 8'],
    ['{} {}', 'unexpected character at line 1, column 4'],
    ['{"a": "\u0001"}', 'unexpected character at line 1, column 7'],
    ['[}', 'unexpected character at line 1, column 2'],
    ['﻿{}', 'unexpected character at line 1, column 1'],
    ['{"a": "unterminated', 'unexpected character at line 1, column 7'],
  ];
  for (const [text, where] of cases) {
    it(`says where ${JSON.stringify(text)} breaks`, () => {
      assert.throws(() => parseJson(text), {
        code: 'invalid-request',
        message: `The body is not valid JSON: ${where}.`,
      });
    });
  }

  it('takes the last of repeated names and gives "__proto__" no power', () => {
    const value: unknown = parseJson('{"a":1,"a":2,"__proto__":{"subject":"x"}}');
    assert.ok(typeof value === 'object' && value !== null);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.equal('subject' in value, false);
    assert.equal((value as { a: number }).a, 2);
  });

  it('takes JSON as deep as a body can be, broken or not', () => {
    const depth = 500_000;
    assert.ok(Array.isArray(parseJson('['.repeat(depth) + ']'.repeat(depth))));
    assert.throws(() => parseJson('['.repeat(depth)), { code: 'invalid-request' });
  });

  it('finds an error where the engine does, and nowhere else', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', ',', '}', ']', '"', 'x', ':', '\\', '\n'),
        (json, at, insert) => {
          const text = json.slice(0, at % (json.length + 1)) + insert + json.slice(at % (json.length + 1));
          assert.equal(findJsonError(json), json.length, json);
          if (breaks(text)) {
            // Cut before the place found, the text could still have become valid: it only ends too early.
            const index = findJsonError(text);
            assert.ok(index <= text.length);
            assert.equal(findJsonError(text.slice(0, index)), index);
          } else {
            assert.equal(findJsonError(text), text.length, text);
          }
        },
      ),
    );
  });
});
