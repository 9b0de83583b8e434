// The public pages: complete, bounded, and nothing that a browser would load from elsewhere or run but the scripts of
// the reference.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { SCALAR_VERSION } from '../../../../src/http/pages/assets.ts';
import { createPublicPages } from '../../../../src/http/pages/public-pages.ts';
import { call } from '../../../kit/http-client.ts';
import { type HttpInProcess, startHttp } from '../http-in-process.ts';

const PAGE_BYTES_MAX = 64 * 1024;

const { front, reference, errors, assets } = createPublicPages('/errors');
const [code = '', ofType = front] = [...errors.byType][0] ?? [];
/** Each with the path at which it is. */
const pages = [
  ['/', front],
  ['/docs', reference],
  ['/errors', errors.index],
  [`/errors/${code}`, ofType],
] as const;

const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, group = '']) => group);

describe('a public page', () => {
  for (const [path, { content, bytes, lines }] of pages) {
    const text = String(content);
    it(`loads files of this service alone, and has no inline script or style: ${path}`, () => {
      assert.doesNotMatch(text, /<iframe|<form|<style|\son[a-z]+=|\sstyle=|javascript:|url\(|@import/);
      const loaded = [
        ...found(text, /<script [^>]*\bsrc="([^"]*)"/g),
        ...found(text, /<link [^>]*\bhref="([^"]*)"/g),
        ...found(text, /<img [^>]*\bsrc="([^"]*)"/g),
      ];
      assert.ok(loaded.length >= 3);
      for (const target of loaded) {
        assert.doesNotMatch(target, /^(?:[a-z]+:|\/)/);
        assert.ok(assets.has(new URL(target, `http://x${path}`).pathname), target);
      }
      assert.equal(found(text, /(<script[^>]*>[^<]+)/g).length, 0);
      assert.match(lines, /^Content-Security-Policy: default-src 'none'; style-src 'self'/m);
      for (const word of ['script-src', 'unsafe-inline']) assert.equal(lines.includes(word), path === '/docs', word);
      assert.equal(text.includes('<script'), path === '/docs');
      assert.doesNotMatch(lines, /unsafe-eval|\*|https?:|script-src 'self' /);
    });

    it(`is bounded, and has links that hold wherever it is served: ${path}`, () => {
      for (const target of found(text, /<a [^>]*\bhref="([^"]*)"/g)) {
        assert.match(target, /^(?:(?:\.\.\/)?docs|docs\/openapi\.json|\/?errors(?:\/[a-z-]+)?)$/);
      }
      assert.equal(bytes, Buffer.byteLength(text));
      assert.ok(bytes < PAGE_BYTES_MAX, String(bytes));
    });
  }
});

describe('the files of the public pages', () => {
  it('have Scalar in the version that is pinned, which the path says', () => {
    const packages = JSON.parse(
      readFileSync(
        new URL('../../../../node_modules/@scalar/fastify-api-reference/package.json', import.meta.url),
        'utf8',
      ),
    );
    assert.equal(SCALAR_VERSION, packages.version);
    assert.ok(assets.has(`/docs/assets/scalar-${SCALAR_VERSION}.js`));
  });
});

describe('a request for a public page', () => {
  let http: HttpInProcess;
  before(async () => {
    http = await startHttp();
  });
  after(() => http.close());

  it('is not sent again to a client that has it', async () => {
    const [script = ''] = [...assets.keys()].filter((path) => path.includes('/reference-'));
    for (const path of ['/', '/docs', '/errors', `/errors/${code}`, script]) {
      const first = await call(http.url, { method: 'GET', path });
      const { etag = '' } = first.headers;
      assert.match(etag, /^"[^"]+"$/);
      assert.match(String(first.headers['cache-control']), path === script ? /immutable/ : /^no-cache$/);
      for (const given of [etag, `W/${etag}`, `"other", ${etag}`]) {
        const again = await call(http.url, { method: 'GET', path, headers: { 'if-none-match': given } });
        assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', etag]);
      }
      for (const given of ['"other"', etag.slice(1, -1), '*"']) {
        assert.equal((await call(http.url, { method: 'GET', path, headers: { 'if-none-match': given } })).status, 200);
      }
    }
  });

  it('gets the files as what they are, and nothing beside them', async () => {
    for (const [path, file] of assets) {
      const answer = await fetch(new URL(path, http.url));
      assert.equal(answer.status, 200);
      const expected = gunzipSync(file.content);
      assert.ok(Buffer.from(await answer.arrayBuffer()).equals(expected), path);
      assert.ok(expected.length > file.content.length, path);
      assert.equal(answer.headers.get('content-length'), String(file.content.length));
      assert.equal(answer.headers.get('content-type'), file.contentType);
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      assert.equal((await call(http.url, { method: 'POST', path, body: {} })).status, 405);
      assert.equal((await call(http.url, { method: 'GET', path: `${path}.map` })).status, 404);
    }
    for (const path of [
      '/docs/assets',
      '/docs/assets/',
      '/docs/assets/..%2f..%2fframe.ts',
      '/docs/assets/scalar-1.0.0.js',
    ]) {
      assert.equal((await call(http.url, { method: 'GET', path })).status, 404);
    }
  });
});
