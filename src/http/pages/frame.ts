// The frame of the public pages: head, style and the headers that go with them. Invariant: a page loads nothing and
// runs nothing; its policy allows exactly this style, by its hash.

import { createHash } from 'node:crypto';
import type { PublicPage } from '../pipeline/response-writer.ts';
import { html, type Markup, renderMarkup } from './markup.ts';

/** In none of its rules is a character that HTML would escape. */
const STYLE = [
  ':root{color-scheme:light dark;--text:#1b1f24;--soft:#57606a;--ground:#fff;--box:#f3f5f7;--line:#d8dee4;--link:#0550ae}',
  '@media(prefers-color-scheme:dark){:root{--text:#e6e9ec;--soft:#9aa4ae;--ground:#14171a;--box:#1f2429;--line:#343b42;--link:#79b8ff}}',
  '*{box-sizing:border-box}',
  'body{font:1rem/1.55 system-ui,sans-serif;margin:0;color:var(--text);background:var(--ground)}',
  'main{max-width:50rem;margin:2.5rem auto;padding:0 1.25rem}',
  '.wide{display:grid;grid-template-columns:17rem minmax(0,1fr);max-width:84rem;margin:0 auto}',
  '.wide main{max-width:60rem;margin:2.5rem 0;padding:0 2rem}',
  '.wide nav{position:sticky;top:0;height:100vh;overflow:auto;padding:2rem 0 2rem 1.25rem;font-size:.9rem}',
  'nav ul{list-style:none;margin:.25rem 0 1rem;padding:0}nav p{margin:0;font-weight:600}nav li{margin:.15rem 0}',
  '@media(max-width:60rem){.wide{display:block}.wide nav{position:static;height:auto}}',
  'h1{line-height:1.2}h2{margin-top:3rem;border-bottom:1px solid var(--line)}h3{margin-top:2.5rem}h4{margin:1.25rem 0 .25rem}',
  'a{color:var(--link)}h3 a{color:inherit;text-decoration:none}dt{font-weight:600;margin-top:1rem}dd{margin:0}',
  'code,pre{font-family:ui-monospace,monospace;font-size:.9em;background:var(--box);border-radius:.25em}',
  'code{padding:.1em .3em;overflow-wrap:anywhere}pre{padding:.75rem 1rem;overflow:auto;line-height:1.4}pre code{padding:0}',
  'table{border-collapse:collapse;width:100%;font-size:.92rem}th,td{text-align:left;vertical-align:top;padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--line)}',
  '.scroll{overflow-x:auto}.soft{color:var(--soft)}.method{font-weight:700}summary{cursor:pointer}',
].join('');

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

const LINES = [
  `Content-Security-Policy: default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n`,
  'X-Content-Type-Options: nosniff\r\n',
  'Referrer-Policy: no-referrer\r\n',
].join('');

export interface PageFacts {
  readonly title: string;
  /** What is in the body: `main` and what stands beside it. */
  readonly body: Markup;
}

export function createPage({ title, body }: PageFacts): PublicPage {
  const head = renderMarkup(html`<head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <style>${STYLE}</style>
  </head>`);
  const text = `<!doctype html>\n<html lang="en">${head}<body>${renderMarkup(body)}</body></html>\n`;
  return { html: text, bytes: Buffer.byteLength(text), lines: LINES };
}

/** Text in which backticks enclose code, as descriptions have it. */
export const inline = (text: string): Markup =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));

/** The same in paragraphs, which empty lines separate. */
export const paragraphs = (text: string): Markup => text.split('\n\n').map((part) => html`<p>${inline(part)}</p>`);
