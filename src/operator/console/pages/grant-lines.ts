// Many grants at once, pasted as lines: all of them are created, or none. Whatever is wrong, the text stays in the box.

import { assertNever } from '../../../core/assert.ts';
import type { GrantedTuple } from '../../../core/bulk-writes.ts';
import { BULK_CHANGES_MAX } from '../../../core/limits.ts';
import { linesOf, parseTupleLines } from '../../../core/text/tuple-lines.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { type Refusal, refuse, refuseThrown } from '../forms.ts';
import {
  type ConsolePage,
  type PageCall,
  type PageDependencies,
  type PageResult,
  pathTo,
  tenantSessionOf,
} from '../page.ts';
import { changeForm, formError, submit, textArea } from '../parts/form-parts.ts';
import { tenantFrame } from '../parts/layout.ts';
import { plural } from '../parts/parts.ts';
import { readTenant, readTenantOrId } from './tenant.ts';

/**
 * UTF-16 units that the box takes, more than 100 valid lines can have: a longer text is refused even where the browser
 * cuts it. Percent-encoded, it takes less than a form may have.
 */
const TEXT_LENGTH_MAX = 200_000;

/** Above that, the rest is only counted. */
const ERRORS_SHOWN_MAX = 20;

interface Refused extends Refusal {
  /** What is wrong with each line. */
  readonly lines: readonly string[];
}

function errorList({ lines }: Refused): Markup {
  if (lines.length === 0) return undefined;
  const rest = lines.length - ERRORS_SHOWN_MAX;
  return html`<ul class="line-errors" id="line-errors">
    ${lines.slice(0, ERRORS_SHOWN_MAX).map((line) => html`<li><bdi>${line}</bdi></li>`)}
    ${rest > 0 ? html`<li>… and ${plural(rest, 'more line')}</li>` : undefined}
  </ul>`;
}

async function showForm(dependencies: PageDependencies, call: PageCall, refused?: Refused): Promise<PageResult> {
  const tenant =
    refused === undefined ? await readTenant(dependencies, call) : await readTenantOrId(dependencies, call);
  const filled = { fields: call.form, refusal: refused };
  const parts = ['tenants', tenant.tenantId, 'grants'];
  const form = changeForm(
    call.session,
    pathTo([...parts, 'lines']),
    html`${formError(filled)}
      ${textArea(
        {
          name: 'lines',
          label: 'Grants, one per line',
          required: true,
          hint: html`Subject, relation and object, separated by spaces, tabs or commas: <code>user:ada viewer document:plan</code>.
            A fourth part says when the grant expires: <code>2030-01-31T12:00:00Z</code>`,
          rows: 12,
          lengthMax: TEXT_LENGTH_MAX,
        },
        filled,
      )}
      ${refused === undefined ? undefined : errorList(refused)}
      <p class="buttons">${submit('Create the grants')}
        ${' '}<a class="button secondary outline" href=${pathTo(parts)}>Cancel</a></p>`,
  );
  const content = html`<section class="confirm wide">
    <h2>Create many grants</h2>
    <p>Up to ${BULK_CHANGES_MAX} grants are created at one moment, or none of them if anything is wrong. Grants that exist
      already stay as they are, unless their line has another expiry. For longer lists, use <code>grantd import</code>.</p>
    ${form}
  </section>`;
  const body = tenantFrame(tenant, 'grants', content);
  return { kind: 'page', status: refused?.status ?? 200, title: 'Create many grants', body };
}

const refuseLines = (message: string, lines: readonly string[] = []): Refused => ({
  ...refuse('lines', message),
  lines,
});

/** The grants of all lines, or what is wrong with some of them. */
function readLines(text: string, wallMs: number): readonly GrantedTuple[] | Refused {
  const lines = linesOf(text);
  if (lines.length === 0) return refuseLines('Enter at least one grant.');
  if (lines.length > BULK_CHANGES_MAX) {
    return refuseLines(
      `These are ${lines.length.toLocaleString('en')} grants; at most ${BULK_CHANGES_MAX} can be created at once. Nothing was created.`,
    );
  }
  const parsed = parseTupleLines(lines, wallMs);
  const errors = parsed.flatMap((line) => ('refusal' in line ? [`Line ${line.number}: ${line.refusal}`] : []));
  if (errors.length > 0) {
    const wrong = errors.length === 1 ? '1 line is wrong' : `${errors.length} lines are wrong`;
    return refuseLines(`${wrong}, see below. Nothing was created.`, errors);
  }
  return parsed.flatMap((line) => ('tuple' in line ? [line.tuple] : []));
}

async function create(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const again = (refusal: Refused): Promise<PageResult> => showForm(dependencies, call, refusal);
  const grants = readLines(call.form.text('lines'), dependencies.clock.wallMs());
  if ('messages' in grants) return again(grants);
  try {
    const session = await tenantSessionOf(dependencies.operator, call);
    const result = await session.call(CALLS.writeBulk, call.context(), { grants, revocations: [], conditions: [] });
    switch (result.kind) {
      case 'written': {
        const created = result.grants.filter((grant) => grant.created).length;
        const present = grants.length - created;
        const kept = present === 0 ? '' : `; ${present.toLocaleString('en')} existed already`;
        const [first] = grants;
        const subject = grants.every((each) => each.subject === first?.subject) ? first?.subject : undefined;
        const to = pathTo(['tenants', session.tenantId, 'grants'], { subject });
        return { kind: 'redirect', to, notice: `${plural(created, 'grant')} created${kept}` };
      }
      case 'refused':
        return again({ ...refuse('form', `${result.message} Nothing was created.`, 403), lines: [] });
      case 'condition-not-met':
        throw new Error('A write without conditions cannot fail one.');
      default:
        return assertNever(result);
    }
  } catch (error) {
    return again({ ...refuseThrown(error), lines: [] });
  }
}

export function grantLinePages(dependencies: PageDependencies): readonly ConsolePage[] {
  const path = '/tenants/:tenantId/grants/lines';
  return [
    { method: 'GET', path, name: 'page-grant-lines', run: (call) => showForm(dependencies, call) },
    { method: 'POST', path, name: 'page-grant-lines', run: (call) => create(dependencies, call) },
  ];
}
