// The frame of the public pages: head, bar, and the headers that go with them. Invariant: a page loads the files of
// this service alone, its policy allows no others and no inline script, and only the reference may style inline.

import { createHash } from 'node:crypto';
import type { PublicPage } from '../pipeline/response-writer.ts';
import { pathOf } from './assets.ts';
import { html, type Markup, renderMarkup } from './markup.ts';

/** Scalar puts its style sheet into the page, and styles elements by attribute: it has no other way. */
const SCRIPT_POLICY =
  "style-src 'self' 'unsafe-inline'; script-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; ";
const PLAIN_POLICY = "style-src 'self'; img-src 'self' data:; ";

const policyOf = (scripted: boolean): string =>
  `default-src 'none'; ${scripted ? SCRIPT_POLICY : PLAIN_POLICY}base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export interface PageFacts {
  readonly title: string;
  /** The way from the page to the root of the service; links are relative, so that they hold wherever it is. */
  readonly root: '' | '../';
  readonly main: Markup;
  /** Files with a script, in their order. */
  readonly scripts?: readonly Parameters<typeof pathOf>[0][];
}

/** 128 bits of a hash, as an entity tag. */
export const tagOf = (text: string): string => `"${createHash('sha256').update(text).digest('hex').slice(0, 32)}"`;

export function createPage({ title, root, main, scripts = [] }: PageFacts): PublicPage {
  const scripted = scripts.length > 0;
  // Scalar brings its own style, which another one would change.
  const frame = scripted
    ? main
    : html`<header class="container"><nav><ul><li>
          <a href=${`${root}docs`}><img src=${root + pathOf('icon')} alt="" width="24" height="24" /> <strong>grantd API</strong></a>
        </li></ul></nav></header>
        <main class="container">${main}</main>`;
  const content = `<!doctype html>\n<html lang="en">${renderMarkup(html`<head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${title}</title>
    <link rel="icon" href=${root + pathOf('icon')} />
    ${!scripted && html`<link rel="stylesheet" href=${root + pathOf('style')} />`}
    ${scripts.map((name) => html`<script defer src=${root + pathOf(name)}></script>`)}
  </head><body>${frame}</body>`)}</html>\n`;
  const etag = tagOf(content);
  return {
    content,
    bytes: Buffer.byteLength(content),
    contentType: 'text/html; charset=utf-8',
    etag,
    lines: [
      `Cache-Control: no-cache\r\nETag: ${etag}\r\n`,
      `Content-Security-Policy: ${policyOf(scripted)}\r\n`,
      'X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n',
    ].join(''),
  };
}
