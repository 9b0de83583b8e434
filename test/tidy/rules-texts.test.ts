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

/** What pages show, and what their commands send or write to a file. */
const FENCE = /^(?:```grantd|(?:set_rules|cat > \S+\.grantd)\b[^\n]* << 'END'[^\n]*)\n(.*?)^(?:```|END)$/gms;
/** What their commands add to other rules, without which it may not stand. */
const ADDED = /^add_rules\b[^\n]* << 'END'\n(.*?)^END$/gms;

type NamedText = readonly [name: string, text: string];

const found = (path: string, pattern: RegExp): readonly NamedText[] =>
  Array.from(readText(path).matchAll(pattern), ([, text = ''], index) => [`${path}, ${index + 1}`, text]);

const pages = listFiles().filter((path) => path.endsWith('.md'));
const texts: readonly NamedText[] = [
  ...listFiles()
    .filter((path) => path.endsWith('.grantd'))
    .map((path): NamedText => [path, readText(path)]),
  ...pages.flatMap((path) => found(path, FENCE)),
];

describe('rules in the repository', () => {
  for (const [name, text] of texts) {
    it(name, async () => {
      await ruleSetOfSourceInTurns(text, async () => {}, { expressions: true });
      assert.equal(text, formatSource(text));
    });
  }

  for (const [name, text] of pages.flatMap((path) => found(path, ADDED))) {
    it(`${name}, added`, () => assert.equal(text, formatSource(text)));
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
