// Rules in the text form, wherever they stand in the repository: they are what the service takes, in the one layout;
// and the grammar for editors knows every word of the language.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PARAMETER_TYPES } from '../../src/rules/conditions/types.ts';
import { LISTS } from '../../src/rules/text/lexer.ts';
import { formatSource } from '../../src/rules/text/printer.ts';
import { ruleSetOfSourceInTurns } from '../../src/rules/text/rules-source.ts';
import { RESERVED } from '../../src/rules/text/words.ts';
import { listFiles, readText } from '../kit/source-tree.ts';

const FENCE = /^```grantd\n(.*?)^```$/gms;

const textsIn = (path: string): readonly (readonly [name: string, text: string])[] =>
  path.endsWith('.grantd')
    ? [[path, readText(path)]]
    : Array.from(readText(path).matchAll(FENCE), ([, text = ''], index) => [`${path}, ${index + 1}`, text]);

const texts = listFiles()
  .filter((path) => /\.(?:grantd|md)$/.test(path))
  .flatMap(textsIn);

describe('rules in the repository', () => {
  for (const [name, text] of texts) {
    it(name, async () => {
      await ruleSetOfSourceInTurns(text, async () => {}, { expressions: true });
      assert.equal(text, formatSource(text));
    });
  }
});

it('the grammar for editors has every word of the language, and patterns that compile', () => {
  const grammar = readText('packages/textmate/grantd.tmLanguage.json');
  const patterns = [...grammar.matchAll(/"(?:match|begin|end)": ("(?:\\.|[^"])*")/g)].map(([, text = '']) =>
    String(JSON.parse(text)),
  );
  for (const pattern of patterns) new RegExp(pattern);
  const words = new Set(patterns.flatMap((pattern) => pattern.replaceAll(/\\[a-z]/g, ' ').match(/[a-z]+/g) ?? []));
  const types = PARAMETER_TYPES.map((type) => type.replace('<T>', ''));
  for (const word of [...LISTS, ...RESERVED, ...types, 'namespace', 'condition', 'self']) {
    assert.ok(words.has(word), word);
  }
});
