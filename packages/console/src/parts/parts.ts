// Parts that all pages use: texts from outside, times, copy buttons, sections, tables, empty states, links to pages.

import type { GrantTerms } from '../../../../src/core/grant-attributes.ts';
import { describeWarning, unknownNamespaceWarnings } from '../../../../src/core/service-warnings.ts';
import { formatTimestamp, span } from '../../../../src/core/text/timestamps.ts';
import { EVERY_SUBJECT } from '../../../../src/core/tuples.ts';
import type { RequestContext } from '../../../../src/front/front.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { parseGroup } from '../../../../src/rules/compiled-rules.ts';
import type { NamedTuple } from '../../../../src/rules/questions.ts';
import { pathTo, type Query, tenantPath, withQuery } from '../page.ts';

/** Words of at most 24 characters, or a part of a longer one: up to punctuation, or 24 characters. */
const FOREIGN_PARTS = /(?:\S{1,24}(?!\S)\s*)+|[\p{L}\p{M}\p{N}]{1,24}(?:[^\p{L}\p{M}\p{N}\s]{1,8}\s*)?|./gsu;

/** A text from a user: shown as it is, in its own text direction. Only its long words may break. */
export function foreign(text: string): Markup {
  const parts = text.match(FOREIGN_PARTS) ?? [];
  return html`<bdi class="foreign">${parts.map((part, index) => [index > 0 && html`<wbr />`, part])}</bdi>`;
}

/** A text of the service: what it quotes between backticks is code. */
export const quoted = (text: string): Markup =>
  text
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 1 ? html`<code>${foreign(part)}</code>` : part !== '' && foreign(part)));

/** An ID or another text that is copied rather than read. */
export const code = (text: string): Markup => html`<code dir="ltr">${text}</code>`;

/**
 * A time in UTC. The page's script shows it in the zone of the person, with UTC in the title. `as`: what is shown, for
 * the script; undefined: words that hold in every zone.
 */
function time(wallMs: number, shown: string, as?: 'second' | 'minute' | 'clock'): Markup {
  const text = formatTimestamp(wallMs);
  return html`<time datetime=${text} title=${text} data-as=${as ?? 'title'}>${shown}</time>`;
}

/** `2026-11-27 11:32:25 UTC` */
export const moment = (wallMs: number): Markup => time(wallMs, `${dateTime(wallMs, 19)} UTC`, 'second');

/** To the minute: for lists, where seconds are noise. */
export const minute = (wallMs: number): Markup => time(wallMs, `${dateTime(wallMs, 16)} UTC`, 'minute');

/** The time of the day: `11:32:25 UTC`. */
export const timeOfDay = (wallMs: number): Markup => time(wallMs, `${clockTime(wallMs)} UTC`, 'clock');

const dateTime = (wallMs: number, length: number): string => formatTimestamp(wallMs).slice(0, length).replace('T', ' ');

/** The time of the day in UTC: `11:32:25`. */
export const clockTime = (wallMs: number): string => formatTimestamp(wallMs).slice(11, 19);

export const ago = (wallMs: number, nowMs: number): Markup => time(wallMs, `${span(nowMs - wallMs)} ago`);

/** `in 3 days`, for the end of a grant. */
export const expiry = (expiresAtMs: number | undefined, nowMs: number): Markup =>
  expiresAtMs === undefined
    ? 'never'
    : time(expiresAtMs, expiresAtMs <= nowMs ? 'now' : `in ${span(expiresAtMs - nowMs)}`);

/** Each term that a grant has. */
export const termTexts = ({ expiresAtMs, condition }: GrantTerms, end = moment): readonly Markup[] => [
  ...(expiresAtMs === undefined ? [] : [html`expires ${end(expiresAtMs)}`]),
  ...(condition === undefined ? [] : [html`if ${code(condition)}`]),
];

/** The same, of a change that has been made. */
export const termsMarkup = (terms: GrantTerms): Markup =>
  [...(terms.expiresAtMs === undefined ? ['never expires'] : []), ...termTexts(terms)].map(
    (each, index) => html`${index > 0 && ', '}${each}`,
  );

/** Columns of the terms. No grant of most tenants has a condition. */
export const termColumns = (grants: readonly GrantTerms[], nowMs: number): readonly Column<GrantTerms>[] => [
  ...(grants.some(({ condition }) => condition !== undefined)
    ? [['Condition', ({ condition }: GrantTerms) => condition && code(condition)] as const]
    : []),
  ['Expires', ({ expiresAtMs }) => expiry(expiresAtMs, nowMs)],
];

/** The age of a figure that could not be refreshed. In the browser it keeps counting. */
export function asOf(wallMs: number, nowMs: number): Markup {
  const ageMs = Math.max(0, nowMs - wallMs);
  return html`<span data-age=${Math.round(ageMs)}>as of ${span(ageMs)} ago</span>`;
}

export const count = (number: number): string => number.toLocaleString('en');

export const plural = (number: number, noun: string): string => `${count(number)} ${noun}${number === 1 ? '' : 's'}`;

/**
 * A button that copies the element before it, whose text is the ID, by mouse and keyboard. A page without its script
 * does not show it: the text itself can be selected. `what`: completes “Copy …”.
 */
const copyButton = (what: string): Markup =>
  html`<button type="button" class="copy" aria-label="Copy ${what}"></button>`;

/** `shown`: one element, such as a link. */
export const copyId = (id: string, shown: Markup): Markup =>
  html`<span class="copyable">${shown}${copyButton(id)}</span>`;

export const copyCode = (id: string): Markup => copyId(id, code(id));

/** A text of several lines. */
export const copyBlock = (text: string, what: string): Markup =>
  html`<div class="copy-block"><pre dir="ltr" tabindex="0" role="group" aria-label=${what}><code>${text}</code></pre>${copyButton(what)}</div>`;

/** An action of the audit log or of a change. Added and removed access differ by a sign, not only by their colour. */
export function actionBadge(action: string): Markup {
  const [sign, kind] = /\.(?:revoked|expired)$/.test(action)
    ? ['− ', ' removed']
    : action.endsWith('.created')
      ? ['+ ', ' added']
      : ['', ''];
  return html`<span class="badge${kind}">${sign}${action}</span>`;
}

export const swatch = (fill: string, color?: string): Markup =>
  html`<svg class="swatch" viewBox="0 0 12 12" aria-hidden="true"><rect class=${fill} color=${color} width="12" height="12" rx="3" /></svg>`;

/**
 * A subject links to its grants, a group to the holders of its name on its object. `groups`: whether the tenant's rules
 * make `ns:id#name` a group; otherwise it is a subject like any other.
 */
export function entityLink(tenantId: string, subject: string, groups = true): Markup {
  const group = groups ? parseGroup(subject) : undefined;
  const query = group === undefined ? { subject } : { object: group.object, relation: group.name };
  const link = html`<a href=${tenantPath(tenantId, 'grants', query)}>${foreign(subject)}</a>`;
  return subject === EVERY_SUBJECT ? html`${link} <small>every subject, by a state</small>` : link;
}

/** An object links to the grants on it. */
export const objectLink = (tenantId: string, object: string): Markup =>
  html`<a href=${tenantPath(tenantId, 'grants', { object })}>${foreign(object)}</a>`;

/** A grant as one reads it, with links. `groups`: as of a subject. */
export const tupleMarkup = (tenantId: string, { subject, relation, object }: NamedTuple, groups = true): Markup =>
  subject === EVERY_SUBJECT
    ? html`${objectLink(tenantId, object)} is <strong>${relation}</strong>`
    : html`${entityLink(tenantId, subject, groups)} <strong>${relation}</strong> ${objectLink(tenantId, object)}`;

/** The grants beside this one: of its subject; of a state, on its object. */
export const besidePath = (tenantId: string, { subject, object }: NamedTuple): string =>
  tenantPath(tenantId, 'grants', subject === EVERY_SUBJECT ? { object } : { subject });

/** The warnings that the API gives in a header beside an answer that is false or empty, once it is there. */
export function warningsMarkup(context: RequestContext): Markup {
  const warnings = unknownNamespaceWarnings(context);
  if (warnings.length === 0) return undefined;
  return warnings.map((warning) => html`<p class="warning">${foreign(describeWarning(warning))}</p>`);
}

/** A link that looks like a button. `label`: its name, if the text alone does not say what it is for. */
export const buttonLink = (href: string, text: string, kind = 'secondary outline', label?: string): Markup =>
  html`<a class=${`button ${kind}`.trim()} href=${href} aria-label=${label}>${text}</a>`;

export const crumb = (href: string, text: string): Markup => html`<p class="crumb"><a href=${href}>${text}</a></p>`;

/** A part of a page with its heading. */
export const section = (id: string, title: Markup, content: Markup, kind?: string): Markup =>
  html`<section class=${kind} aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${content}</section>`;

/** A term and its value in a list of facts. */
export const fact = (term: string, value: Markup): Markup => html`<div><dt>${term}</dt><dd>${value}</dd></div>`;

/** The attributes of a part that refreshes itself; while it cannot, the page's script shows its age. */
export const refreshing = (path: string, everyMs: number, swap = 'outerMorph', before = '') => ({
  'data-live': String(everyMs),
  'hx-get': path,
  'hx-trigger': `${before}every ${everyMs / 1000}s, refresh`,
  'hx-swap': swap,
  ...UNLESS_FAILED,
});

/** A failed request of htmx leaves the page as it is. */
export const UNLESS_FAILED = { 'hx-status:4xx': 'swap:none', 'hx-status:5xx': 'swap:none' };

/** Shown by the page's script while the page cannot be refreshed. */
export const staleWarning = (before: Markup): Markup => html`<p class="warning" data-stale hidden>
    ${before} <span data-stale-age>out of date</span>.
  </p>`;

type Column<Row> = readonly [title: string, cell: (row: Row) => Markup, kind?: 'number' | 'actions'];

/** On a narrow screen, each row becomes a block whose cells show the title of their column. */
export function table<Row>(caption: string, rows: readonly Row[], columns: readonly Column<Row>[]): Markup {
  const heads = columns.map(
    ([title, , kind]) => html`<th scope="col" class=${kind}>
      ${kind === 'actions' ? html`<span class="unseen">${title}</span>` : title}
    </th>`,
  );
  const cells = (row: Row): Markup =>
    columns.map(
      ([title, cell, kind]) =>
        html`<td data-title=${title} class=${kind} role="cell"><div class="cell">${cell(row)}</div></td>`,
    );
  // The explicit roles remain when a style sheet changes the display of the table.
  return html`<table role="table">
    <caption class="unseen">${caption}</caption>
    <thead role="rowgroup"><tr role="row">${heads}</tr></thead>
    <tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${cells(row)}</tr>`)}</tbody>
  </table>`;
}

/** For an empty listing: what that means, and what to do next. */
export const empty = (title: string, next: Markup): Markup =>
  html`<div class="empty"><p class="empty-title">${title}</p><p>${next}</p></div>`;

/** Links to other pages of a listing; undefined: there is no such page. */
export function pageLinks({ first, previous, next }: Readonly<Record<string, string | undefined>>): Markup {
  if (first === undefined && previous === undefined && next === undefined) return undefined;
  const link = (href: string | undefined, text: string, kind = 'secondary outline', rel?: string): Markup =>
    href === undefined ? undefined : html`<a class="button ${kind}" rel=${rel} href=${href}>${text}</a>`;
  return html`<nav class="pager" aria-label="Pages">
    ${link(first, 'First page')}${link(previous, 'Previous page', undefined, 'prev')}
    ${next === undefined ? html`<span>This is the last page.</span>` : link(next, 'Next page', 'secondary', 'next')}
  </nav>`;
}

/** Listings move by cursor, forward or back to the start. `cursor`: of the current page; undefined: the first one. */
export const pager = (path: string, query: Query, cursor: string | undefined, next: string | undefined): Markup =>
  pageLinks({
    first: cursor === undefined ? undefined : withQuery(path, query),
    next: next === undefined ? undefined : withQuery(path, { ...query, cursor: next }),
  });

/** Where an operator finds out what a key is. */
export const identifyLink = (): Markup =>
  html`<p>Has someone found a key? <a href=${pathTo(['identify-key'])}>Identify it.</a></p>`;
