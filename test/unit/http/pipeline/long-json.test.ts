// JSON text: what is taken, and that the place of an error is where the engine stops too.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { GrantdError } from '../../../../src/core/errors.ts';
import { JSON_VALUES_MAX } from '../../../../src/core/limits.ts';
import { parseJson } from '../../../../src/core/text/json.ts';
import { JsonScanner } from '../../../../src/core/text/json-scanner.ts';
import { LongJson } from '../../../../src/http/pipeline/long-json.ts';
import { JSON_STEP_LENGTH } from '../../../../src/http/wire/limits.ts';

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

  it('gives "__proto__" no power', () => {
    const value: unknown = parseJson('{"__proto__":{"subject":"x"}}');
    assert.ok(typeof value === 'object' && value !== null);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.equal('subject' in value, false);
  });

  for (const [text, name, place] of [
    ['{"a":1,"a":1}', 'a', 'line 1, column 8'],
    ['{"a":1,\n "\\u0061":2}', 'a', 'line 2, column 2'],
    ['[{"a":{"b":[{"c":"\\"c\\":","c":{}}]}}]', 'c', 'line 1, column 27'],
    ['{"":1,"":1}', '', 'line 1, column 7'],
    ['{"__proto__":1,"__proto__":1}', '__proto__', 'line 1, column 16'],
  ] as const) {
    it(`refuses the second ${JSON.stringify(name)} of ${text}`, () => {
      const message = `The body gives ${JSON.stringify(name)} twice in one object, the second time at ${place}.`;
      assert.throws(() => parseJson(text), { code: 'invalid-request', message });
    });
  }

  it('takes whatever gives no member twice, and nothing else that is JSON', () => {
    // Unlike the text of a value, texts with members given twice are made by hand.
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), fc.jsonValue(), (value, name, other) => {
        const text = JSON.stringify(value);
        assert.deepEqual(parseJson(text), JSON.parse(text));
        const key = JSON.stringify(name);
        assert.deepEqual(parseJson(`{${key}:${text}}`), JSON.parse(`{${key}:${text}}`));
        assert.throws(() => parseJson(`[{${key}:${text},${key}:${JSON.stringify(other)}}]`), {
          code: 'invalid-request',
        });
      }),
    );
  });

  it('takes a short text as deep as it can be, broken or not', () => {
    const depth = 8_000;
    assert.ok(Array.isArray(parseJson('['.repeat(depth) + ']'.repeat(depth))));
    assert.throws(() => parseJson('['.repeat(depth)), { code: 'invalid-request' });
  });
});

/** All steps; how many there were. */
const readLong = (text: string): { value: unknown; steps: number } => {
  const long = new LongJson(text, JSON_VALUES_MAX);
  let steps = 1;
  while (long.step()) steps += 1;
  return { value: long.value, steps };
};

describe('a long JSON text', () => {
  it('is read in steps and parsed in the last', () => {
    const text = JSON.stringify({ a: Array.from({ length: 1000 }, () => 'x'.repeat(500)), b: ' '.repeat(1000) });
    const { value, steps } = readLong(text);
    assert.deepEqual(value, JSON.parse(text));
    assert.equal(steps, Math.ceil(text.length / JSON_STEP_LENGTH) + 1);
  });

  it('that is one string is read in steps, too', () => {
    const text = `"${'\\u1234'.repeat(170_000)}"`;
    const { value, steps } = readLong(text);
    assert.equal(value, JSON.parse(text));
    assert.equal(steps, Math.ceil(text.length / JSON_STEP_LENGTH) + 1);
    const broken = `["${'x'.repeat(100_000)}\n"]`;
    assert.throws(() => readLong(broken), { code: 'invalid-request', message: /at line 1, column 2\.$/ });
    assert.throws(() => readLong(`["${'x'.repeat(100_000)}`), { message: /at line 1, column 2\.$/ });
  });

  it('that is one string, number or run of spaces is taken', () => {
    for (const text of [`"${'\\u1234'.repeat(170_000)}"`, '1'.repeat(1_000_000), `${' '.repeat(1_000_000)}1`]) {
      assert.equal(readLong(text).value, JSON.parse(text));
    }
  });

  for (const [what, text, message] of [
    ['too deep', `[\n${'['.repeat(500_000)}`, 'is nested more than 32 deep, at line 2, column 32.'],
    ['deeper by one', '['.repeat(33) + ']'.repeat(33), 'is nested more than 32 deep, at line 1, column 33.'],
    [
      'of too many elements',
      `[${'1,'.repeat(500_000)}1]`,
      'holds more than 4096 values; the first one too many is at line 1, column 8192.',
    ],
    [
      'of too many members',
      `{${Array.from({ length: 4096 }, (_, index) => `"${1000 + index}":[]`).join(',')}}`,
      'holds more than 4096 values; the first one too many is at line 1, column 40959.',
    ],
    [
      'of a member that is given twice',
      `{"a":{"b":1},"c":[{"b":1},{"b":1,"b":2}]${' '.repeat(20_000)}}`,
      'gives "b" twice in one object, the second time at line 1, column 34.',
    ],
    [
      'broken at its end',
      `${JSON.stringify(' '.repeat(900_000))}\n\n x`,
      'is not valid JSON: unexpected character at line 3, column 2.',
    ],
    ['cut off', `{"a":"${'x'.repeat(900_000)}"`, 'is not valid JSON: it ends too early, at line 1, column 900008.'],
    ['of lines alone', '\n'.repeat(1_000_000), 'is not valid JSON: it ends too early, at line 1000001, column 1.'],
  ] as const) {
    it(`that is ${what} is refused, which names what and where, and is never parsed`, (context) => {
      const parse = context.mock.method(JSON, 'parse');
      assert.throws(() => readLong(text), { code: 'invalid-request', message: `The body ${message}` });
      assert.equal(parse.mock.callCount(), 0);
    });
  }

  it('is taken up to its bounds', () => {
    const deep = '['.repeat(32) + ']'.repeat(32);
    assert.deepEqual(readLong(deep).value, JSON.parse(deep));
    const many = `[${Array.from({ length: 4095 }, (_, index) => index).join(',')}]`;
    assert.deepEqual(readLong(many).value, JSON.parse(many));
  });
});

/** How many members the objects of a JSON text have: each has a colon that is in no string. */
const memberCount = (json: string): number => json.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;

/** A text that the engine refuses, or in which it drops a member that its object has twice. */
const isRefused = (text: string): boolean =>
  breaks(text) || memberCount(text) !== memberCount(JSON.stringify(JSON.parse(text)));

/** Where reading a text, in pieces of that length, breaks; undefined: it does not. */
function breakOf(text: string, pieceLength: number): number | undefined {
  const scanner = new JsonScanner(text, {
    depthMax: Number.POSITIVE_INFINITY,
    valuesMax: Number.POSITIVE_INFINITY,
  });
  try {
    while (scanner.step(pieceLength)) {
      // There is more.
    }
  } catch (error) {
    assert.ok(error instanceof GrantdError, String(error));
    return scanner.index;
  }
  return undefined;
}

describe('the scanner of JSON texts', () => {
  it('breaks where the engine does or a member is given twice, and nowhere else, in pieces of any length', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.nat(),
        fc.constantFrom(
          '',
          ',',
          '}',
          ']',
          '[',
          '{',
          '"',
          'x',
          ':',
          '\\',
          '\n',
          '-',
          '0',
          '.',
          'e',
          '+',
          'null',
          '\\u12',
          '\u0007',
        ),
        fc.integer({ min: 1, max: 20 }),
        (json, at, insert, pieceLength) => {
          const cut = at % (json.length + 1);
          const text = json.slice(0, cut) + insert + json.slice(cut);
          assert.equal(breakOf(json, pieceLength), undefined, json);
          const index = breakOf(text, pieceLength);
          assert.equal(index !== undefined, isRefused(text), text);
          assert.equal(index, breakOf(text, text.length), text);
          // Cut before the place found, the text could still have become valid: it only ends too early.
          if (index !== undefined && index < text.length)
            assert.equal(breakOf(text.slice(0, index), pieceLength) ?? index, index, text);
        },
      ),
      { numRuns: 2000, examples: [['{"":1,"[":2}', 2, '[', 1]] },
    );
  });

  it('judges any run of the characters of JSON as the engine does', () => {
    const piece = fc.constantFrom(
      ...'{}[],:"\\ \n-+.eE01ux/b',
      'true',
      'false',
      'null',
      '"a"',
      '\\u00e9',
      '12',
      '\u2028',
      '\ud800',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        assert.equal(breakOf(text, 3) !== undefined, isRefused(text), JSON.stringify(text));
      }),
      { numRuns: 20_000 },
    );
  });
});
