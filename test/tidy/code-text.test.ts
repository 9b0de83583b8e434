// The reader of code that the rules of style and layers stand on.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCode } from '../kit/source-tree.ts';
import { codeText } from './support/code-text.ts';

const CASES: readonly (readonly [text: string, emptied: string])[] = [
  ["a('x // y') // z\nb", "a('') \nb"],
  ['a /* x\ny */ b', 'a  b'],
  ["const a = 'it\\'s'; b", "const a = ''; b"],
  ["`x \u0024{a ? `y \u0024{'}'}` : b} // z` + c", '`` + c'],
  ["a.replace(/['\"`/]/g, '')", "a.replace(//g, '')"],
  ['const a = /[/]\\//; // b', 'const a = //; '],
  ['a / b / c // d', 'a / b / c '],
  ['if (!/x/.test(a)) b', 'if (!//.test(a)) b'],
  ['#!/usr/bin/env node\na', '\na'],
];

describe('codeText', () => {
  for (const [text, emptied] of CASES) {
    it(`reads ${JSON.stringify(text)}`, () => assert.equal(codeText(text, { strings: 'emptied' }), emptied));
  }

  it('keeps strings on request', () => {
    assert.equal(codeText("import 'x'; // y", { strings: 'kept' }), "import 'x'; ");
  });

  it('leaves brackets balanced in every file, so it has lost its way in none', () => {
    const folders = ['src', 'packages', 'test', 'scripts', 'tools', 'bench', 'loadtest', 'clients', 'examples'];
    for (const [path, text] of readCode(folders)) {
      const code = codeText(text, { strings: 'emptied' });
      for (const [open, close] of ['()', '[]', '{}']) {
        assert.equal(code.split(open ?? '').length, code.split(close ?? '').length, `${path}: ${open}${close}`);
      }
    }
  });
});
