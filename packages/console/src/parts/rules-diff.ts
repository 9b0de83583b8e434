// The difference between two rule sets, line by line, and whole: what is not shown here is changed unseen.

import { html, type Markup } from '../../../../src/http/pages/markup.ts';

/** `lines`: see `diffRules`. */
export const diffMarkup = (lines: readonly string[]): Markup =>
  html`<pre class="diff" dir="ltr" tabindex="0" role="group" aria-label="Differences">${lines.map((line) =>
    line.startsWith('+') ? html`<ins>${line}</ins>` : html`<del>${line}</del>`,
  )}</pre>`;
