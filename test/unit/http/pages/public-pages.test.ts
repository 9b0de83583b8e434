// The public pages: complete, bounded, the same by either way into the service, and nothing that a browser would load
// or run.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { isJsonObject } from '../../../../src/core/json-members.ts';
import { createCommittedOpenapi } from '../../../../src/http/openapi/committed-openapi.ts';
import { createPublicPages } from '../../../../src/http/pages/public-pages.ts';
import { RawConnection } from '../../../kit/http-raw.ts';
import { type HttpInProcess, startHttp } from '../http-in-process.ts';

/** A few responses of the largest page fit into what a stranger's connection may hold. */
const PAGE_BYTES_MAX = 256 * 1024;

const openapi = createCommittedOpenapi();
const { front, reference, errors } = createPublicPages(openapi, {
  baseUrl: 'https://grants.example/x"y',
  errorsBase: '/errors',
});
const pages = { front, reference, 'the index of errors': errors.index };

const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, group = '']) => group);

describe('a public page', () => {
  for (const [name, { html, bytes, lines }] of Object.entries(pages)) {
    it(`loads and runs nothing, and its policy allows exactly its style: ${name}`, () => {
      assert.doesNotMatch(
        html,
        /<script|<img|<link|<iframe|<form|\ssrc=|\son[a-z]+=|\sstyle=|javascript:|url\(|@import/,
      );
      const [style = ''] = found(html, /<style>(.*?)<\/style>/gs);
      const hash = createHash('sha256').update(style).digest('base64');
      assert.match(lines, /^Content-Security-Policy: default-src 'none'; /);
      assert.ok(lines.includes(`style-src 'sha256-${hash}';`));
      assert.doesNotMatch(lines, /unsafe|\*|https?:/);
    });

    it(`has one id for each anchor, and links that hold wherever it is served: ${name}`, () => {
      const ids = found(html, /\sid="([^"]*)"/g);
      assert.equal(new Set(ids).size, ids.length);
      for (const target of found(html, /\shref="([^"]*)"/g)) {
        if (target.startsWith('#')) assert.ok(ids.includes(target.slice(1)), target);
        else if (name !== 'the index of errors')
          assert.match(target, /^(?:docs|docs\/openapi\.json|errors(?:\/[a-z-]+)?)$/);
      }
    });

    it(`is bounded: ${name}`, () => {
      assert.equal(bytes, Buffer.byteLength(html));
      assert.ok(bytes < PAGE_BYTES_MAX, String(bytes));
    });
  }

  it('escapes what the settings say', () => assert.ok(reference.html.includes('https://grants.example/x&quot;y')));
});

describe('the reference', () => {
  it('has every operation with its method, path and example, and every type that it names', () => {
    const { paths } = openapi;
    assert.ok(isJsonObject(paths));
    let operations = 0;
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(methods as Record<string, { operationId: string }>)) {
        operations += 1;
        assert.ok(reference.html.includes(`<h3 id="${operation.operationId}">`), operation.operationId);
        assert.ok(reference.html.includes(`>${method.toUpperCase()}</span> ${path}</code>`), `${method} ${path}`);
      }
    }
    assert.ok(operations > 20);
    for (const type of ['Grant', 'Rule', 'Change', 'Scope']) assert.ok(reference.html.includes(`id="type-${type}"`));
    assert.doesNotMatch(reference.html, /undefined|\[object Object\]|\$ref/);
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
});
