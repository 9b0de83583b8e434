// The words of the project: the types that the glossary names exist, and words that it retired occur nowhere.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { listFiles, readCode, readText } from '../kit/source-tree.ts';
import { findRetiredWords, retiredWords, termsOf } from './support/glossary.ts';

const glossary = readFileSync('docs/reference/glossary.md', 'utf8');
/** Everything that somebody reads but for what others wrote, and for the history of changes. */
const text = new Map(
  listFiles()
    .filter((path) => /\.(?:ts|mjs|js|md|ya?ml|tpl|json|proto|sh|txt|css|html)$/.test(path))
    .filter(
      (path) =>
        !/^(?:CHANGELOG\.md|package-lock\.json|test\/[a-z/]+\/data\/|test\/conformance\/openapi-baseline\.json$|src\/rpc\/gen\/)/.test(
          path,
        ),
    )
    .map((path) => [path, readText(path)]),
);
const code = [...readCode(['src'])].filter(([path]) => !path.startsWith('src/rpc/gen/'));

describe('the glossary', () => {
  const terms = termsOf(glossary);

  it('has the terms of the field, in the order of the alphabet or of what they belong to, each once', () => {
    assert.ok(terms.length >= 40, `${terms.length}`);
    assert.equal(new Set(terms.map(({ term }) => term)).size, terms.length);
  });

  it('names types that exist', () => {
    const declared = (type: string): boolean =>
      code.some(([, text]) =>
        new RegExp(`^(?:export )?(?:abstract )?(?:class|interface|type) ${type}\\b`, 'm').test(text),
      );
    assert.deepEqual(
      terms.filter(({ type }) => !declared(type)).map(({ term, type }) => `${term}: ${type}`),
      [],
    );
    assert.ok(!declared('NoSuchType'));
  });
});

describe('words that were retired', () => {
  it('are those of the glossary', () => {
    for (const { word } of retiredWords) assert.ok(glossary.includes(`| ${word}`), word);
  });

  it('occur nowhere', () => {
    assert.deepEqual(findRetiredWords(text), []);
  });

  for (const { example } of retiredWords) {
    it(`would be found: ${example}`, () => {
      assert.equal(findRetiredWords(new Map([['src/shard/x.ts', `// ${example}\n`]])).length, 1);
    });
  }

  it('are found in names as well as in sentences, and nothing else is', () => {
    const found = (text: string): number => findRetiredWords(new Map([['src/x.ts', text]])).length;
    assert.equal(found('const lastBeat = row.healthyBeat;\n'), 1);
    assert.equal(
      found('heartbeat, heartBeatInterval, unbeaten, control-plane, trailing, trailers, total recollection\n'),
      0,
    );
  });
});
