// The frame of the public pages: head, bar, and the headers that go with them. Invariant: a page loads the files of
// this service alone, and its policy allows no others, no inline script and no inline style.

import { createHash } from 'node:crypto';
import type { PublicPage } from '../pipeline/response-writer.ts';
import { ASSETS_PATH } from './assets.ts';
import { html, type Markup, renderMarkup } from './markup.ts';

/** What the script builds, it builds from texts: with Trusted Types, the browser refuses to parse HTML for it. */
const SCRIPT_POLICY =
  "script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'; ";

const policyOf = (scripted: boolean): string =>
  `default-src 'none'; style-src 'self'; img-src 'self'; ${scripted ? SCRIPT_POLICY : ''}base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export interface PageFacts {
  readonly title: string;
  /** What is in the body: `main` and what stands around it. */
  readonly body: Markup;
  /** The way from the page to the root of the service; links are relative, so that they hold wherever it is. */
  readonly root: '' | '../';
  /** Runs the script of the reference. */
  readonly scripted?: boolean;
}

/** 128 bits of a hash, as an entity tag. */
export const tagOf = (text: string): string => `"${createHash('sha256').update(text).digest('hex').slice(0, 32)}"`;

export function createPage({ title, body, root, scripted = false }: PageFacts): PublicPage {
  const head = renderMarkup(html`<head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <link rel="icon" href=${`${root}${ASSETS_PATH}/icon.svg`} />
    <link rel="stylesheet" href=${`${root}${ASSETS_PATH}/pages.css`} />
    ${scripted ? html`<script type="module" blocking="render" src=${`${root}${ASSETS_PATH}/reference.js`}></script>` : undefined}
  </head>`);
  const text = `<!doctype html>\n<html lang="en">${head}<body>${renderMarkup(body)}</body></html>\n`;
  const etag = tagOf(text);
  return {
    text,
    bytes: Buffer.byteLength(text),
    contentType: 'text/html; charset=utf-8',
    etag,
    lines: [
      `Cache-Control: no-cache\r\nETag: ${etag}\r\n`,
      `Content-Security-Policy: ${policyOf(scripted)}\r\n`,
      'X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n',
    ].join(''),
  };
}

/** The bar at the top of each page. `facts`: what stands beside the name. */
export const topBar = (root: PageFacts['root'], name: Markup, facts?: Markup): Markup =>
  html`<header class="bar">
    <a class="brand" href=${`${root}docs`}><img src=${`${root}${ASSETS_PATH}/icon.svg`} alt="" width="24" height="24" />${name}</a>
    ${facts}
  </header>`;

/** Text in which backticks enclose code, as descriptions have it. */
export const inline = (text: string): Markup =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));

/** The same in paragraphs, which empty lines separate. */
export const paragraphs = (text: string): Markup => text.split('\n\n').map((part) => html`<p>${inline(part)}</p>`);
