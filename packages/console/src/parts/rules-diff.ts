// The difference between two rule sets, line by line.

import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { code, count } from './parts.ts';

/** Maximum lines shown; the rest is counted. */
const LINES_SHOWN_MAX = 50;

export function cutList(lines: readonly Markup[]): Markup {
  const rest = lines.length - LINES_SHOWN_MAX;
  return html`<ul class="lines">
    ${lines.slice(0, LINES_SHOWN_MAX).map((line) => html`<li>${line}</li>`)}
    ${rest > 0 ? html`<li>… and ${count(rest)} more</li>` : undefined}
  </ul>`;
}

/** `lines`: see `diffRules`. */
export const diffMarkup = (lines: readonly string[]): Markup => cutList(lines.map(code));
