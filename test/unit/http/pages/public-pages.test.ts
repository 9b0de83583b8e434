// The public pages: complete, bounded, the same by either way into the service, and nothing that a browser would load
// from elsewhere or run but the script of the reference.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isJsonObject } from '../../../../src/core/json-members.ts';
import { createCommittedOpenapi } from '../../../../src/http/openapi/openapi.ts';
import { INTERFACE_VERSION } from '../../../../src/http/openapi/openapi-document.ts';
import { createPublicPages } from '../../../../src/http/pages/public-pages.ts';
import { call } from '../../../kit/http-client.ts';
import { RawConnection } from '../../../kit/http-raw.ts';
import { type HttpInProcess, startHttp } from '../http-in-process.ts';

/** A few responses of the largest page fit into what a stranger's connection may hold. */
const PAGE_BYTES_MAX = 256 * 1024;

const openapi = createCommittedOpenapi();
const { front, reference, errors, assets } = createPublicPages(openapi, {
  baseUrl: 'https://grants.example/x"y',
  errorsBase: '/errors',
});
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
  for (const [path, { text, bytes, lines }] of pages) {
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
      assert.match(lines, /^Content-Security-Policy: default-src 'none'; style-src 'self'; img-src 'self'; /m);
      assert.equal(lines.includes('script-src'), path === '/docs');
      assert.equal(text.includes('<script'), path === '/docs');
      assert.doesNotMatch(lines, /unsafe|\*|https?:/);
    });

    it(`has one id for each anchor, and links that hold wherever it is served: ${path}`, () => {
      const ids = found(text, /\sid="([^"]*)"/g);
      assert.equal(new Set(ids).size, ids.length);
      for (const target of found(text, /<a [^>]*\bhref="([^"]*)"/g)) {
        if (target.startsWith('#')) assert.ok(ids.includes(target.slice(1)), target);
        else assert.match(target, /^(?:(?:\.\.\/)?docs|docs\/openapi\.json|\/?errors(?:\/[a-z-]+)?)$/);
      }
    });

    it(`is bounded: ${path}`, () => {
      assert.equal(bytes, Buffer.byteLength(text));
      assert.ok(bytes < PAGE_BYTES_MAX, String(bytes));
    });
  }

  it('escapes what the settings say', () => assert.ok(reference.text.includes('https://grants.example/x&quot;y')));
});

describe('the files of the public pages', () => {
  it('are bounded, and import each other only', () => {
    assert.ok(assets.size >= 6);
    for (const [path, { text, bytes, lines }] of assets) {
      assert.ok(bytes < PAGE_BYTES_MAX, path);
      assert.match(lines, /^Cache-Control: public, max-age=31536000, immutable\r$/m);
      for (const target of found(text, /^import [^'\n]*'([^']*)';$/gm)) {
        assert.match(target, /^\.\//);
        assert.ok(assets.has(new URL(target, `http://x${path}`).pathname), target);
      }
      assert.doesNotMatch(
        text,
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|@import|sessionStorage/,
      );
    }
  });
});

describe('the reference', () => {
  it('has every operation with its method, path and example, and every type that it names', () => {
    const { paths } = openapi;
    assert.ok(isJsonObject(paths));
    let operations = 0;
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(methods as Record<string, { operationId: string }>)) {
        operations += 1;
        assert.ok(reference.text.includes(`<h2 id="${operation.operationId}"`), operation.operationId);
        assert.ok(reference.text.includes(`>${method.toUpperCase()}</span> <code>${path}</code>`), `${method} ${path}`);
      }
    }
    assert.ok(operations > 20);
    for (const type of ['Grant', 'Rule', 'Change', 'Scope']) assert.ok(reference.text.includes(`id="type-${type}"`));
    for (const each of errors.byType.keys()) assert.ok(reference.text.includes(`<li id="error-${each}"`), each);
    assert.doesNotMatch(reference.text, /undefined|\[object Object\]|\$ref/);
  });

  it('shows one version, once', () => {
    const versions = found(reference.text.replaceAll(/<[^>]*>/g, ' '), /(?<![\d.])(\d+\.\d+\.\d+)(?![\d.])/g);
    assert.deepEqual(versions, [INTERFACE_VERSION]);
  });

  it('asks before every operation that changes data, and before no other', () => {
    const views = found(reference.text, /(<section [^>]*\bdata-method=[^>]*>)/g);
    const [writes, reads] = [
      views.filter((view) => view.includes('data-writes')),
      views.filter((view) => !view.includes('data-writes')),
    ];
    assert.ok(writes.length > 5 && reads.length > 15);
    const named = (each: readonly string[]) => each.map((view) => /aria-labelledby="(\w+)"/.exec(view)?.[1] ?? '');
    for (const id of named(writes)) assert.match(id, /^(?:create|revoke|write)/);
    for (const id of named(reads)) assert.doesNotMatch(id, /^(?:create|revoke|write)/);
  });
});

describe('a request for a public page', () => {
  let http: HttpInProcess;
  before(async () => {
    http = await startHttp();
  });
  after(() => http.close());

  for (const [what, first] of [
    ['of the common form', ''],
    ['after one that only Node’s server reads', 'GET /nothing HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'],
  ] as const) {
    it(`gets the whole page, ${what}`, async () => {
      for (const path of ['/', '/docs']) {
        const client = await RawConnection.open(http.url);
        client.send(`${first}GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
        const page = (await client.readResponses(first === '' ? 1 : 2)).at(-1);
        client.destroy();
        assert.equal(page?.status, 200);
        assert.ok(page?.body.endsWith('</body></html>\n'), path);
      }
    });
  }

  it('is not sent again to a client that has it', async () => {
    const [script = ''] = [...assets.keys()].filter((path) => path.endsWith('/search.js'));
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
      const answer = await call(http.url, { method: 'GET', path });
      assert.deepEqual([answer.status, answer.text], [200, file.text]);
      assert.equal(answer.headers['content-type'], file.contentType);
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
      assert.equal((await call(http.url, { method: 'POST', path, body: {} })).status, 405);
      assert.equal((await call(http.url, { method: 'GET', path: `${path}.map` })).status, 404);
    }
    for (const path of [
      '/docs/assets',
      '/docs/assets/',
      '/docs/assets/..%2f..%2fframe.ts',
      '/docs/assets/0/pages.css',
    ]) {
      assert.equal((await call(http.url, { method: 'GET', path })).status, 404);
    }
  });
});
