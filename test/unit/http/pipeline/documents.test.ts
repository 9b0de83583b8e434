// What is made from the error catalogue says the same everywhere: the pages, the document, the OpenAPI file.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { renderErrorsPage } from '../../../../scripts/docs/errors-page.ts';
import { ERROR_CATALOGUE } from '../../../../src/core/errors.ts';
import { createErrorPages } from '../../../../src/http/pages/error-pages.ts';
import { rawProblem } from '../../../../src/http/wire/response-text.ts';

const codes = Object.keys(ERROR_CATALOGUE);

describe('the error pages', () => {
  const pages = createErrorPages('https://example.test/errors');
  it('are one per type, with an index', () => {
    assert.deepEqual([...pages.byType.keys()], codes);
    for (const code of codes) {
      assert.ok(String(pages.index.content).includes(`href="https://example.test/errors/${code}"`), code);
      assert.ok(
        String(pages.byType.get(code)?.content).includes(`<code>https://example.test/errors/${code}</code>`),
        code,
      );
    }
  });
  it('escape what they show', () => {
    const { index } = createErrorPages('https://example.test/"><script>');
    assert.ok(!String(index.content).includes('<script>'));
  });
});

describe('docs/reference/errors.md', () => {
  const committed = readFileSync(new URL('../../../../docs/reference/errors.md', import.meta.url), 'utf8');
  it('is what the catalogue says (npm run generate -- docs)', () => assert.equal(committed, renderErrorsPage()));
  it('has a row for every type and no other', () => {
    const rows = [...committed.matchAll(/^\| (\d{3}) +\| `([a-z-]+)`/gm)].map(([, , code]) => code);
    assert.deepEqual(rows, codes);
  });
});

describe('a raw problem', () => {
  it('is a whole response', () => {
    const options = { errorsBase: 'https://example.test/errors', requestId: 'req_x' };
    const text = rawProblem(new Error('a secret'), options);
    const [head = '', body = ''] = text.split('\r\n\r\n');
    assert.match(head, /^HTTP\/1\.1 500 Internal Server Error\r\nDate: /);
    assert.match(head, /\r\nConnection: close$/);
    assert.match(head, new RegExp(`\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`));
    assert.ok(!text.includes('secret'));
  });
});
