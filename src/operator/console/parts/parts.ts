// Parts that all pages use: texts from outside, times, tables, empty states, the link to the next page.

import { formatTimestamp, MS_PER_MINUTE } from '../../../core/text/timestamps.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { pathTo } from '../page.ts';

/** A text from a user: shown as it is, in its own text direction. */
export function foreign(text: string): Markup {
  return html`<bdi class="foreign">${text}</bdi>`;
}

/** An id or another text that is copied rather than read. */
export function code(text: string): Markup {
  return html`<code dir="ltr">${text}</code>`;
}

export function moment(wallMs: number): Markup {
  const text = formatTimestamp(wallMs);
  return html`<time datetime=${text} title=${text}>${text.slice(0, 10)} ${text.slice(11, 19)}</time>`;
}

/** To the minute: for lists, where seconds are noise. */
export function minute(wallMs: number): Markup {
  const text = formatTimestamp(wallMs);
  return html`<time datetime=${text} title=${text}>${text.slice(0, 10)} ${text.slice(11, 16)}</time>`;
}

/** The time of the day in UTC: `11:32:25`. */
export const clockTime = (wallMs: number): string => formatTimestamp(wallMs).slice(11, 19);

const MS_PER_HOUR = 3_600_000;
const MS_PER_DAY = 86_400_000;

/** `3 minutes`, rounded down to the largest unit that fits. */
export function span(ms: number): string {
  const [amount, unit] =
    ms >= 2 * MS_PER_DAY
      ? [ms / MS_PER_DAY, 'day']
      : ms >= 2 * MS_PER_HOUR
        ? [ms / MS_PER_HOUR, 'hour']
        : ms >= MS_PER_MINUTE
          ? [ms / MS_PER_MINUTE, 'minute']
          : [Math.max(0, ms) / 1000, 'second'];
  const whole = Math.floor(amount);
  return `${whole.toLocaleString('en')} ${unit}${whole === 1 ? '' : 's'}`;
}

export function ago(wallMs: number, nowMs: number): Markup {
  const text = formatTimestamp(wallMs);
  return html`<time datetime=${text} title=${text}>${span(nowMs - wallMs)} ago</time>`;
}

/** The age of a figure that could not be refreshed. In the browser it keeps counting. */
export function asOf(wallMs: number, nowMs: number): Markup {
  const ageMs = Math.max(0, nowMs - wallMs);
  return html`<span data-age=${Math.round(ageMs)}>as of ${span(ageMs)} ago</span>`;
}

export const count = (number: number): string => number.toLocaleString('en');

export function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => Markup;
  readonly kind?: 'number' | 'actions';
}

/** On a narrow screen, each row becomes a block whose cells show the title of their column. */
export function table<Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): Markup {
  const heads = columns.map(
    ({ title, kind }) => html`<th scope="col" class=${kind}>
      ${kind === 'actions' ? html`<span class="unseen">${title}</span>` : title}
    </th>`,
  );
  const cells = (row: Row): Markup =>
    columns.map(
      ({ title, cell, kind }) =>
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
export function empty(title: string, next: Markup): Markup {
  return html`<div class="empty"><p class="empty-title">${title}</p><p>${next}</p></div>`;
}

export interface Pager {
  readonly parts: readonly string[];
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Of the current page; undefined: the first one. */
  readonly cursor: string | undefined;
  readonly next: string | undefined;
}

/** Listings move by cursor: forward, or back to the start. */
export function pager({ parts, query, cursor, next }: Pager): Markup {
  if (cursor === undefined && next === undefined) return undefined;
  const first =
    cursor === undefined
      ? undefined
      : html`<a class="button secondary outline" href=${pathTo(parts, query)}>First page</a>`;
  const further =
    next === undefined
      ? html`<span>This is the last page.</span>`
      : html`<a class="button secondary" rel="next" href=${pathTo(parts, { ...query, cursor: next })}>Next page</a>`;
  return html`<nav class="pager" aria-label="Pages">${first}${further}</nav>`;
}
