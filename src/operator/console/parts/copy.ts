// Buttons that copy a text, such as an ID: next to it, worked by mouse and keyboard. A page without its script does not
// show them: the text itself can be selected.

import type { CodeSample } from '../../../http/openapi/code-samples.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { code } from './parts.ts';

/** It copies the element before it, and the page announces that. `what`: completes “Copy …”. */
function copyButton(what: string): Markup {
  return html`<button type="button" class="copy" aria-label="Copy ${what}"></button>`;
}

/** With a button that copies it. `shown`: one element, whose text is the ID, such as a link. */
export function copyId(id: string, shown: Markup): Markup {
  return html`<span class="copyable">${shown}${copyButton(id)}</span>`;
}

export const copyCode = (id: string): Markup => copyId(id, code(id));

/** A text of several lines. */
export function copyBlock(text: string, what: string): Markup {
  return html`<div class="copy-block"><pre dir="ltr" tabindex="0" role="group" aria-label=${what}><code>${text}</code></pre>${copyButton(what)}</div>`;
}

/** The same call in several languages. */
export function codeSamples(summary: string, samples: readonly CodeSample[]): Markup {
  return html`<details class="samples">
    <summary>${summary}</summary>
    <p class="hint">Set <code>GRANTD_URL</code> and <code>GRANTD_KEY</code>; the samples do not contain a key.</p>
    ${samples.map(({ label, source }) => html`<h3>${label}</h3>${copyBlock(source, `the sample for ${label}`)}`)}
  </details>`;
}
