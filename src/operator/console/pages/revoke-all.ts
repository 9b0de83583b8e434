// Revokes all grants of a subject, or on an object: counted, confirmed by typing the name, then one call after the
// other until none is left. The page sends the next call by itself; without scripts, its button does.

import { anchorOf, type GrantFilter } from '../../../core/bulk-writes.ts';
import { GrantdError } from '../../../core/errors.ts';
import { PAGE_LIMIT_MAX } from '../../../core/limits.ts';
import { isIdentifier } from '../../../core/tuples.ts';
import type { TenantSession } from '../../../front/front.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import type { Fields, Refusal } from '../forms.ts';
import { refuse, refuseThrown } from '../forms.ts';
import {
  type ConsolePage,
  type PageCall,
  type PageDependencies,
  type PageResult,
  pathTo,
  tenantSessionOf,
} from '../page.ts';
import { changeForm, formError, submit, textField } from '../parts/form-parts.ts';
import { tenantFrame } from '../parts/layout.ts';
import { count, empty, foreign, plural } from '../parts/parts.ts';
import { readTenant } from './tenant.ts';

/** Reads within the time that a person waits for a page; beyond, the page says "more than". */
const READS_MAX = 10;

const entityOf = (of: GrantFilter['of']): string => ('subject' in of ? of.subject : of.object);

function readAnchor(fields: Fields): GrantFilter['of'] {
  const of = anchorOf(fields.optional('subject'), fields.optional('object'));
  if (isIdentifier(entityOf(of))) return of;
  throw new GrantdError(`invalid-${'subject' in of ? 'subject' : 'object'}`, 'It must have the form namespace:id.');
}

interface Counted {
  readonly grants: number;
  /** There are more. */
  readonly cut: boolean;
}

async function countGrants(call: PageCall, session: TenantSession, of: GrantFilter['of']): Promise<Counted> {
  let grants = 0;
  let cursor: string | undefined;
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    const query = { of, relation: undefined, limit: PAGE_LIMIT_MAX, cursor };
    const page = await session.call(CALLS.listGrants, call.context(), query);
    grants += page.items.length;
    cursor = page.nextCursor;
    if (cursor === undefined) return { grants, cut: false };
  }
  return { grants, cut: true };
}

const countText = ({ grants, cut }: Counted): string => `${cut ? 'more than ' : ''}${plural(grants, 'grant')}`;

/** `of user:ada`, or `on document:plan`. */
const whose = (of: GrantFilter['of']): Markup => html`${'subject' in of ? 'of' : 'on'} ${foreign(entityOf(of))}`;

const partsOf = (tenantId: string): readonly string[] => ['tenants', tenantId, 'grants'];

const hidden = (fields: Readonly<Record<string, string>>): Markup =>
  Object.entries(fields).map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`);

async function ask(
  dependencies: PageDependencies,
  call: PageCall,
  of: GrantFilter['of'],
  refusal?: Refusal,
): Promise<PageResult> {
  const tenant = await readTenant(dependencies, call);
  const session = await tenantSessionOf(dependencies.operator, call);
  const counted = await countGrants(call, session, of);
  const parts = partsOf(tenant.tenantId);
  const back = pathTo(parts, { ...of });
  const filled = { fields: call.form, refusal };
  const form = changeForm(
    call.session,
    pathTo([...parts, 'revoke-all']),
    html`${formError(filled)}${hidden({ ...of, total: String(counted.grants) })}
      ${textField({ name: 'typed', label: html`To confirm, type ${foreign(entityOf(of))}`, required: true }, filled)}
      <p class="buttons">${submit('Revoke all', 'danger')}
        ${' '}<a class="button secondary outline" href=${back}>Cancel</a></p>`,
  );
  const content =
    counted.grants === 0 && !counted.cut
      ? empty(
          'There is nothing to revoke',
          html`There are no grants ${whose(of)}. <a href=${back}>Back to the grants</a>`,
        )
      : html`<section class="confirm">
          <h2>Revoke ${countText(counted)} ${whose(of)}</h2>
          <p>Checks that start afterwards are denied, on every front, unless other grants and the tenant’s rules still allow
            them. This cannot be undone; the audit log keeps what was
            revoked. Grants that are created meanwhile are revoked too.</p>
          ${form}
        </section>`;
  const status = refusal?.status ?? 200;
  return { kind: 'page', status, title: 'Revoke all grants', body: tenantFrame(tenant, 'grants', content) };
}

/** A number that the page itself has sent along; it is only shown. */
function sentNumber(fields: Fields, name: string): number {
  const text = fields.text(name);
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : 0;
}

interface Step {
  readonly of: GrantFilter['of'];
  readonly revoked: number;
  readonly total: number;
  readonly refusal: Refusal | undefined;
}

/** Between two calls. `refusal`: the last one failed, and the operator decides whether to go on. */
async function showStep(dependencies: PageDependencies, call: PageCall, step: Step): Promise<PageResult> {
  const { of, revoked, total, refusal } = step;
  const tenant = await readTenant(dependencies, call);
  const parts = partsOf(tenant.tenantId);
  const form = changeForm(
    call.session,
    pathTo([...parts, 'revoke-all']),
    html`${formError({ fields: call.form, refusal })}
      ${hidden({ ...of, typed: entityOf(of), revoked: String(revoked), total: String(total) })}
      <p class="buttons">${submit('Continue')}
        ${' '}<a class="button secondary outline" href=${pathTo(parts, { ...of })}>Stop here</a></p>`,
    { htmxTarget: '#revocation', ...(refusal === undefined ? { htmxTrigger: 'load' } : {}) },
  );
  const content = html`<section class="confirm" id="revocation">
    <h2>Revoking all grants ${whose(of)}</h2>
    <progress aria-label="Revocation" value=${String(Math.min(revoked, total))} max=${String(Math.max(revoked, total, 1))}></progress>
    <p role="status">${count(revoked)} of ${plural(Math.max(total, revoked), 'grant')} revoked.</p>
    ${form}
  </section>`;
  const status = refusal?.status ?? 200;
  return { kind: 'page', status, title: 'Revoking all grants', body: tenantFrame(tenant, 'grants', content) };
}

async function showEnd(
  dependencies: PageDependencies,
  call: PageCall,
  of: GrantFilter['of'],
  revoked: number,
): Promise<PageResult> {
  const tenant = await readTenant(dependencies, call);
  const back = pathTo(partsOf(tenant.tenantId), { ...of });
  const content = html`<section class="confirm" id="revocation">
    <h2 tabindex="-1" data-focus>All grants ${whose(of)} are revoked</h2>
    <p role="status">${plural(revoked, 'grant')} revoked. <a href=${back}>Back to the grants</a></p>
  </section>`;
  return { kind: 'page', status: 200, title: 'All grants revoked', body: tenantFrame(tenant, 'grants', content) };
}

async function revoke(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const { form } = call;
  const of = readAnchor(form);
  if (form.text('typed').trim() !== entityOf(of)) {
    return ask(dependencies, call, of, refuse('typed', 'This is not the same text. Nothing was revoked.'));
  }
  const before = sentNumber(form, 'revoked');
  const total = sentNumber(form, 'total');
  try {
    const session = await tenantSessionOf(dependencies.operator, call);
    const result = await session.call(CALLS.revokeGrants, call.context(), { of, relation: undefined });
    const revoked = before + result.revoked;
    if (!result.complete) return showStep(dependencies, call, { of, revoked, total, refusal: undefined });
    if (before > 0) return showEnd(dependencies, call, of, revoked);
    const to = pathTo(partsOf(session.tenantId), { ...of });
    return { kind: 'redirect', to, notice: `${plural(revoked, 'grant')} revoked` };
  } catch (error) {
    return showStep(dependencies, call, { of, revoked: before, total, refusal: refuseThrown(error) });
  }
}

export function revokeAllPages(dependencies: PageDependencies): readonly ConsolePage[] {
  const path = '/tenants/:tenantId/grants/revoke-all';
  return [
    {
      method: 'GET',
      path,
      name: 'page-revoke-all',
      run: (call) => ask(dependencies, call, readAnchor(call.query)),
    },
    { method: 'POST', path, name: 'page-revoke-all', run: (call) => revoke(dependencies, call) },
  ];
}
