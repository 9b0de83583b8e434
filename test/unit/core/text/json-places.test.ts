// Places in a JSON text: of its values, and of what is wrong with it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findJsonPlace, lineAt } from '../../../../src/core/text/json-places.ts';

const TEXT =
  '{\n  "rules": [\n    {"name": "viewer", "any_of": ["editor", "x\\" y"]},\n    {"name": 1e3}\n  ],\n  "groups": true\n}';

describe('the place of a value', () => {
  const startsAt = (path: string): string => {
    const place = findJsonPlace(TEXT, path);
    assert.equal(place.kind, 'value');
    return TEXT.slice(place.offset);
  };

  it('is found by its path', () => {
    assert.match(startsAt('rules[0].any_of[1]'), /^"x\\" y"\]/);
    assert.match(startsAt('rules[1].name'), /^1e3/);
    assert.match(startsAt('groups'), /^true/);
    assert.match(startsAt(''), /^\{/);
  });

  it('is that of the innermost value around it, if it is not there', () => {
    assert.match(startsAt('rules[1].any_of[4]'), /^\{"name": 1e3\}/);
    assert.match(startsAt('rules[10].name'), /^\[\n/);
    assert.match(startsAt('public'), /^\{\n/);
  });

  it('has a line, whatever ends the lines', () => {
    assert.equal(lineAt(TEXT, findJsonPlace(TEXT, 'rules[1].name').offset), 4);
    const windows = TEXT.replaceAll('\n', '\r\n');
    assert.equal(lineAt(windows, findJsonPlace(windows, 'rules[1].name').offset), 4);
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
      const place = findJsonPlace(text, '');
      assert.ok(place.kind === 'syntax', text);
      assert.deepEqual([place.offset, message.test(place.message)], [offset, true], `${text}: ${place.message}`);
    }
  });

  it('may be nested without end', () => {
    const place = findJsonPlace('['.repeat(200_000), '');
    assert.ok(place.kind === 'syntax');
    assert.match(place.message, /nested too deeply/);
  });

  it('may have a very long string', () => {
    assert.deepEqual(findJsonPlace(`["${'x'.repeat(200_000)}", true]`, '[1]'), { kind: 'value', offset: 200_005 });
  });
});
