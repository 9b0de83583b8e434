// Revokes all grants of a subject, or on an object: counted, confirmed by typing the name, then one call after the
// other until none is left. The page sends the next call by itself; without scripts, its button does.

import { type GrantFilter, parseAnchor } from '../../../../src/core/bulk-writes.ts';
import { PAGE_LIMIT_MAX } from '../../../../src/core/limits.ts';
import type { TenantSession } from '../../../../src/front/front.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { type Fields, type Refusal, refuse, refuseThrown } from '../forms.ts';
import {
  openTenant,
  type PageCall,
  type PageResult,
  readTenant,
  redirect,
  tenantPath,
  tenantSessionOf,
} from '../page.ts';
import { revocationMarkup } from '../parts/access-changes.ts';
import { changeForm, formError, hidden, submitOrLeave, textField } from '../parts/form-parts.ts';
import { confirmPage, tenantPage } from '../parts/layout.ts';
import { count, empty, foreign, plural } from '../parts/parts.ts';

/** Maximum reads to count grants, within the time that a person waits for a page; beyond, the page says "more than". */
const READS_MAX = 10;

const entityOf = (of: GrantFilter['of']): string => ('subject' in of ? of.subject : of.object);

const readAnchor = (fields: Fields): GrantFilter['of'] =>
  parseAnchor(fields.optional('subject'), fields.optional('object'));

interface GrantCount {
  readonly grants: number;
  /** There are more. */
  readonly cut: boolean;
}

async function countGrants(call: PageCall, session: TenantSession, of: GrantFilter['of']): Promise<GrantCount> {
  let grants = 0;
  let cursor: string | undefined;
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    const query = { of, relation: undefined, limit: PAGE_LIMIT_MAX, cursor };
    const page = await session.call('listGrants', call.context(), query);
    grants += page.items.length;
    cursor = page.nextCursor;
    if (cursor === undefined) return { grants, cut: false };
  }
  return { grants, cut: true };
}

const countText = ({ grants, cut }: GrantCount): string => `${cut ? 'more than ' : ''}${plural(grants, 'grant')}`;

/** `of user:ada`, or `on document:plan`. */
const whose = (of: GrantFilter['of']): Markup => html`${'subject' in of ? 'of' : 'on'} ${foreign(entityOf(of))}`;

const grantsPath = (tenantId: string, of: GrantFilter['of']): string => tenantPath(tenantId, 'grants', { ...of });

async function ask(call: PageCall, of: GrantFilter['of'], refusal?: Refusal): Promise<PageResult> {
  const { tenant, session } = await openTenant(call);
  const counted = await countGrants(call, session, of);
  const back = grantsPath(tenant.tenantId, of);
  const title = 'Revoke all grants';
  if (counted.grants === 0 && !counted.cut) {
    const next = html`There are no grants ${whose(of)}. <a href=${back}>Back to the grants</a>`;
    return tenantPage(tenant, 'grants', title, empty('There is nothing to revoke', next), refusal);
  }
  const filled = { fields: call.form, refusal };
  const form = changeForm(
    call.session,
    tenantPath(tenant.tenantId, 'grants/revoke-all'),
    html`${formError(filled)}${hidden({ ...of, total: String(counted.grants) })}
      ${textField({ name: 'typed', label: html`To confirm, type ${foreign(entityOf(of))}`, required: true }, filled)}
      ${submitOrLeave('Revoke all', 'danger', back)}`,
  );
  const content = html`<h2>Revoke ${countText(counted)} ${whose(of)}</h2>
    ${await revocationMarkup(call, of)}
    <p>The revocation holds for every check that starts afterwards, on every front. It cannot be undone; the audit log
      keeps what was revoked. Grants that are created in the meantime are revoked too.</p>
    ${form}`;
  return confirmPage(tenant, 'grants', title, content, { refusal, wide: true });
}

/** A number from a hidden field of the page; it is only shown. */
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
async function showStep(call: PageCall, { of, revoked, total, refusal }: Step): Promise<PageResult> {
  const tenant = await readTenant(call);
  const form = changeForm(
    call.session,
    tenantPath(tenant.tenantId, 'grants/revoke-all'),
    html`${formError({ fields: call.form, refusal })}
      ${hidden({ ...of, typed: entityOf(of), revoked: String(revoked), total: String(total) })}
      ${submitOrLeave('Continue', 'primary', grantsPath(tenant.tenantId, of), 'Stop here')}`,
    { htmxTarget: '#revocation', htmxTrigger: refusal === undefined ? 'load' : undefined },
  );
  const content = html`<h2>Revoking all grants ${whose(of)}</h2>
    <progress aria-label="Revocation" value=${String(Math.min(revoked, total))} max=${String(Math.max(revoked, total, 1))}></progress>
    <p role="status">${count(revoked)} of ${plural(Math.max(total, revoked), 'grant')} revoked.</p>
    ${form}`;
  return confirmPage(tenant, 'grants', 'Revoking all grants', content, { refusal, id: 'revocation' });
}

async function showEnd(call: PageCall, of: GrantFilter['of'], revoked: number): Promise<PageResult> {
  const tenant = await readTenant(call);
  const content = html`<h2 tabindex="-1" data-focus>All grants ${whose(of)} are revoked</h2>
    <p role="status">${plural(revoked, 'grant')} revoked. <a href=${grantsPath(tenant.tenantId, of)}>Back to the grants</a></p>`;
  return confirmPage(tenant, 'grants', 'All grants revoked', content, { id: 'revocation' });
}

export const askToRevokeAll = async (call: PageCall): Promise<PageResult> => ask(call, readAnchor(call.query));

export async function revokeAll(call: PageCall): Promise<PageResult> {
  const { form } = call;
  const of = readAnchor(form);
  if (form.typed('typed') !== entityOf(of)) {
    return ask(call, of, refuse('typed', 'This is not the same text. Nothing was revoked.'));
  }
  const before = sentNumber(form, 'revoked');
  const total = sentNumber(form, 'total');
  try {
    const session = await tenantSessionOf(call);
    const result = await session.call('revokeGrants', call.context(), { of, relation: undefined });
    const revoked = before + result.revoked;
    if (!result.complete) return showStep(call, { of, revoked, total, refusal: undefined });
    if (before > 0) return showEnd(call, of, revoked);
    return redirect(grantsPath(session.tenantId, of), `${plural(revoked, 'grant')} revoked`);
  } catch (error) {
    return showStep(call, { of, revoked: before, total, refusal: refuseThrown(error) });
  }
}
