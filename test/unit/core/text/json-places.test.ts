// Places in a JSON text: of its values, and of what is wrong with it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findJsonPlaces, lineAndColumnAt, writtenLength } from '../../../../src/core/text/json-places.ts';

const TEXT =
  '{\n  "rules": [\n    {"name": "viewer", "any_of": ["editor", "x\\" y"]},\n    {"name": 1e3}\n  ],\n  "groups": true\n}';

/** The text of the value at a path. */
function placeOf(path: string, text = TEXT) {
  const found = findJsonPlaces(text, ['groups', path]);
  assert.ok(found.kind === 'values');
  const [, { offset, length, exact } = { offset: -1, length: 0, exact: false }] = found.places;
  return { offset, exact, text: text.slice(offset, offset + length) };
}

describe('the place of a value', () => {
  it('is found by its path: all of a string or number, the first character of a list or object', () => {
    const cases: readonly (readonly [path: string, text: string])[] = [
      ['rules[0].any_of[1]', '"x\\" y"'],
      ['rules[1].name', '1e3'],
      ['groups', 'true'],
      ['rules[0].any_of', '['],
      ['', '{'],
    ];
    for (const [path, text] of cases) {
      const found = placeOf(path);
      assert.deepEqual([found.text, found.exact], [text, true], path);
    }
  });

  it('is that of the innermost value around it, if it is not there', () => {
    const cases: readonly (readonly [path: string, rest: RegExp])[] = [
      ['rules[1].any_of[4]', /^\{"name": 1e3\}/],
      ['rules[10].name', /^\[\n/],
      ['public', /^\{\n/],
    ];
    for (const [path, rest] of cases) {
      const found = placeOf(path);
      assert.match(TEXT.slice(found.offset), rest);
      assert.equal(found.exact, false);
    }
  });

  it('has a line and a column, whatever ends the lines', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = TEXT.replaceAll('\n', end);
      assert.deepEqual(lineAndColumnAt(text, placeOf('rules[1].name', text).offset), { line: 4, column: 14 });
    }
    assert.deepEqual(lineAndColumnAt('', 0), { line: 1, column: 1 });
  });

  it('counts characters as they are written', () => {
    assert.equal(writtenLength(String.raw`a\n\u0041\"b`, 0), 0);
    assert.equal(writtenLength(String.raw`a\n\u0041\"b`, 3), 9);
    assert.equal(writtenLength(String.raw`a\n\u0041\"b`, 9), 12);
  });
});

describe('what is no JSON', () => {
  it('is told with its place, by what is missing there', () => {
    const cases: readonly (readonly [text: string, offset: number, message: RegExp])[] = [
      ['', 0, /^the text ends, but a value is missing here/],
      ['{"a": }', 6, /^a value is missing here/],
      ['{"a" 1}', 5, /^a colon is missing after "a"$/],
      ['{"a": 1 "b": 2}', 8, /^a comma or a closing brace is missing here$/],
      ['{"a": 1,}', 8, /^the name of a field, in double quotes, is missing here$/],
      ['[1 2]', 3, /^a comma or a closing bracket is missing here$/],
      ['[1, 2', 5, /^the text ends, but a comma or a closing bracket/],
      ["['a']", 1, /^a value is missing here/],
      ['"a', 0, /^a value is missing here/],
      ['truely', 0, /^a value is missing here/],
      ['{} x', 3, /^nothing may follow/],
    ];
    for (const [text, offset, message] of cases) {
      assert.throws(() => JSON.parse(text), text);
      const place = findJsonPlaces(text, []);
      assert.ok(place.kind === 'syntax', text);
      assert.deepEqual([place.offset, message.test(place.message)], [offset, true], `${text}: ${place.message}`);
    }
  });

  it('may be nested without end', () => {
    const place = findJsonPlaces('['.repeat(200_000), []);
    assert.ok(place.kind === 'syntax');
    assert.match(place.message, /nested too deeply/);
  });

  it('may have a very long string', () => {
    assert.equal(placeOf('[1]', `["${'x'.repeat(200_000)}", true]`).offset, 200_005);
  });
});
