// Samples of given checks: whatever the identifiers hold, a sample holds them as literals, whole and visible.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkSamples } from '../../../../packages/console/src/parts/check-samples.ts';

const HOSTILE = [
  `user:'"\\`,
  "user:'); process.exit(1); ('",
  'user:");os.Exit(1);("',
  'user:`\u0024{1}`$(id)',
  'user:\\u0027\\',
  'user:a\u202eb\u2066c\u200d',
  'user:\u{e0041}\u{1f600}',
  'user:éß漢',
];

const sourceOf = (label: string, questions: Parameters<typeof checkSamples>[0]): string => {
  const source = checkSamples(questions)[label];
  assert.ok(source !== undefined);
  return source;
};

describe('samples of checks', () => {
  it('are literals of TypeScript that hold the identifiers', async () => {
    for (const text of HOSTILE) {
      const question = { subject: text, relation: 'viewer', object: text };
      const asked: unknown[] = [];
      const grantd = {
        check: async (question: unknown) => asked.push(question),
        checkBulk: async (questions: unknown) => asked.push(questions),
      };
      const run = (source: string): Promise<unknown> =>
        new Function('grantd', `return (async () => { ${source} })();`)(grantd);
      await run(sourceOf('TypeScript', question));
      await run(sourceOf('TypeScript', [question, question]));
      assert.deepEqual(asked, [question, { checks: [question, question] }]);
    }
  });

  it('are literals of Go, Python and Java of which every character can be seen', () => {
    for (const text of HOSTILE) {
      for (const label of ['curl', 'TypeScript', 'Go', 'Python', 'Java']) {
        const source = sourceOf(label, [{ subject: text, relation: 'viewer', object: text }]);
        assert.doesNotMatch(source.replaceAll(/[ \n\t]/g, ''), /[\p{C}\p{Z}]/u, label);
      }
      for (const label of ['Go', 'Python', 'Java']) {
        const source = sourceOf(label, { subject: text, relation: 'viewer', object: 'doc:1' });
        const literal = /"(?:[^"\\]|\\.)*"/.exec(source)?.[0] ?? '';
        // Java has octal escapes where the others have `\u00ad`.
        const json = literal
          .replaceAll(/\\U([0-9a-f]{8})/g, (_, digits) => String.fromCodePoint(Number.parseInt(digits, 16)))
          .replaceAll(
            /(?<!\\)((?:\\\\)*)\\([0-3][0-7]{2})/g,
            (_, before, digits) => `${before}\\u${Number.parseInt(digits, 8).toString(16).padStart(4, '0')}`,
          );
        assert.equal(JSON.parse(json), text);
      }
    }
  });

  it('are a body of JSON in single quotes for curl', () => {
    for (const text of HOSTILE) {
      const question = { subject: text, relation: 'viewer', object: 'doc:1' };
      const source = sourceOf('curl', [question]);
      assert.match(source, /^curl -sSw '\\n' "\$GRANTD_URL\/v1\/check\/bulk" /);
      const body = source.slice(source.indexOf("-d '") + 4, -1).replaceAll("'\\''", "'");
      assert.deepEqual(JSON.parse(body), { checks: [question] });
    }
  });
});
