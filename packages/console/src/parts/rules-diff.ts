// The difference between two rule sets, line by line, and whole: what is not shown here is changed unseen. What changes
// their meaning comes first, then where both were set as text, the lines of it, with comments.

import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { type RuleSet, revisionOf } from '../../../../src/rules/rule-set.ts';
import { diffInTurns } from '../../../../src/rules/rules-writes.ts';
import { type DiffLine, diffLines } from '../line-diff.ts';
import { plural } from './parts.ts';

/** Lines around a change that are as before. */
const CONTEXT = 2;

const box = (label: string, lines: readonly Markup[]): Markup =>
  html`<pre class="diff" dir="ltr" tabindex="0" role="group" aria-label=${label}>${lines}</pre>`;

/** `lines`: see `diffRules`. */
export const diffMarkup = (lines: readonly string[]): Markup =>
  box(
    'Differences',
    lines.map((line) => (line.startsWith('+') ? html`<ins>${line}</ins>` : html`<del>${line}</del>`)),
  );

function lineMarkup({ kind, text }: DiffLine): Markup {
  if (kind === 'same') return html`<span>${`  ${text}`}</span>`;
  return kind === 'added' ? html`<ins>${`+ ${text}`}</ins>` : html`<del>${`- ${text}`}</del>`;
}

/** What is as before is left out, but for a few lines around each change, and the namespace in which it is. */
function textDiff(lines: readonly DiffLine[]): Markup {
  const shown = new Set<number>();
  let block: number | undefined;
  for (const [index, { kind, text }] of lines.entries()) {
    if (/^(?:namespace|condition)\s/.test(text)) block = index;
    if (kind === 'same') continue;
    for (let at = index - CONTEXT; at <= index + CONTEXT; at += 1) shown.add(at);
    if (block !== undefined && /^\s/.test(text)) shown.add(block);
  }
  const parts: Markup[] = [];
  let left = 0;
  for (const [index, line] of lines.entries()) {
    if (!shown.has(index)) {
      left += 1;
      continue;
    }
    if (left > 0) parts.push(html`<small>${plural(left, 'line')} as before</small>`);
    left = 0;
    parts.push(lineMarkup(line));
  }
  if (left > 0) parts.push(html`<small>${plural(left, 'line')} as before</small>`);
  return box('Differences of the text', parts);
}

/** What differs between two rule sets. */
export async function rulesDiff(from: RuleSet, to: RuleSet): Promise<Markup> {
  if (revisionOf(from) === revisionOf(to)) return html`<p>Nothing: the rules are the same.</p>`;
  const meaning = await diffInTurns(from, to);
  const isText = from.source !== undefined && to.source !== undefined;
  return html`
    ${meaning.length === 0 ? html`<p>Nothing changes its meaning: only comments, order or layout differ.</p>` : diffMarkup(meaning)}
    ${isText && html`<p>In the text:</p>${textDiff(diffLines(from.source, to.source))}`}`;
}
