// What a change of grants or rules would do to access, in words: who loses what, who gains what, and why more may.

import { GrantdError } from '../../../../src/core/errors.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import {
  type AccessChanges,
  type AccessRow,
  type AccessSide,
  accessHeadline,
  noChanges,
  type OpenPoint,
  type RevokedGrants,
} from '../../../../src/rules/access-changes.ts';
import type { PageCall } from '../page.ts';
import { tenantSessionOf } from '../page.ts';
import { count, entityLink, objectLink, plural, table } from './parts.ts';

const ROWS_MAX = 20;
/** Rows that are not folded, so that what confirms the change is near. */
const OPEN_ROWS = 4;

const OPEN_TEXTS: Readonly<Record<OpenPoint, (changes: AccessChanges) => string>> = {
  everyone: () => 'It concerns everyone of a public namespace, who cannot be listed.',
  undecided: () =>
    'Some of it hangs on conditions that only the context of a check decides, or on itself through “but not”.',
  bounds: ({ compared }) =>
    `It may concern more than one comparison covers: ${plural(compared, 'subject')} ${compared === 1 ? 'was' : 'were'} compared.`,
  failed: () => 'The comparison got no answer. Try again.',
};

/** The first few, separated by commas, and how many more there are. */
const someOf = (texts: readonly string[], all: number, shown: (text: string) => Markup): Markup =>
  html`${texts.map((text, index) => html`${index > 0 && ', '}${shown(text)}`)}${
    all > texts.length && ` and ${count(all - texts.length)} more`
  }`;

function changesTable(tenantId: string, verb: string, { rows, rowsLeft, byName }: AccessSide): Markup {
  const who = ({ subjects, subjectCount, isGroup, members }: AccessRow): Markup => {
    const some = someOf(subjects, subjectCount, (subject) => entityLink(tenantId, subject, isGroup));
    return isGroup ? html`members of ${some} <small>(${count(members)} now)</small>` : some;
  };
  const left = Math.max(0, rows.length - ROWS_MAX) + rowsLeft;
  const tableOf = (from: number, to: number): Markup =>
    table<AccessRow>(`Who ${verb.toLowerCase()} access`, rows.slice(from, to), [
      ['Who', who],
      [verb, ({ names }) => html`<strong>${names.join(', ')}</strong>`],
      ['On', ({ objects, objectCount }) => someOf(objects, objectCount, (object) => objectLink(tenantId, object))],
    ]);
  const open = rows.length > OPEN_ROWS + 1 ? OPEN_ROWS : rows.length;
  const folded = Math.min(rows.length, ROWS_MAX) - open;
  return html`${tableOf(0, open)}${
    folded > 0 && html`<details><summary>${plural(folded, 'more line')}</summary>${tableOf(open, ROWS_MAX)}</details>`
  }${byName && html`<p class="hint">Each person ${verb.toLowerCase()} the name on some of the objects in its line, or on all.</p>`}${left > 0 && html`<p class="hint">… and ${plural(left, 'more line')}</p>`}`;
}

export function accessChangesMarkup(tenantId: string, changes: AccessChanges): Markup {
  const { lost, gained, open } = changes;
  const isKnown = open.length === 0;
  const some = html`<p>Some of those who do:</p>`;
  const isLater = isKnown && lost.subjects === 0 && lost.rows.length > 0;
  const headline = accessHeadline('lose', lost, isKnown);
  return html`<section class="access-changes" aria-labelledby="access-changes-title">
    <h3 id="access-changes-title">${isLater ? `${headline} now` : headline}</h3>
    ${!isKnown && html`<ul class="hint">${open.map((each) => html`<li>${OPEN_TEXTS[each](changes)}</li>`)}</ul>`}
    ${lost.rows.length > 0 && html`${!isKnown && some}${changesTable(tenantId, 'Loses', lost)}`}
    ${isLater && html`<p>Only those who join the group later would have had it.</p>`}
    ${
      gained.rows.length > 0 &&
      html`<h3>${accessHeadline('gain', gained, isKnown)}</h3>
        ${!isKnown && some}
        ${changesTable(tenantId, 'Gains', gained)}`
    }
  </section>`;
}

/** What a revocation would change. */
export async function revocationMarkup(call: PageCall, revoked: RevokedGrants): Promise<Markup> {
  const session = await tenantSessionOf(call);
  const changes = await session.call('compareAccess', call.context(), revoked).catch((error: unknown) => {
    if (!(error instanceof GrantdError) || error.code === 'internal') throw error;
    return noChanges('failed');
  });
  return accessChangesMarkup(session.tenantId, changes);
}
