// Revokes one grant: after a confirmation, which says who loses what, and with an undo.

import { GrantdError } from '../../../../src/core/errors.ts';
import { tupleText } from '../../../../src/core/tuples.ts';
import { html } from '../../../../src/http/pages/markup.ts';
import type { Refusal } from '../forms.ts';
import { type PageCall, type PageResult, readTenant, readTenantOrId, tenantPath } from '../page.ts';
import { revocationMarkup } from '../parts/access-changes.ts';
import { changeForm, formError, hidden, submitOrLeave } from '../parts/form-parts.ts';
import { readTerms, readTuple, TERM_FIELDS, termsAsTyped } from '../parts/grant-form.ts';
import { confirmPage } from '../parts/layout.ts';
import { besidePath, tupleMarkup } from '../parts/parts.ts';
import { refuseGrant, writeOne } from './new-grant.ts';

/** Asks for confirmation: a click on the wrong row would remove an access. */
export async function askToRevokeGrant(call: PageCall, refusal?: Refusal): Promise<PageResult> {
  const isRefused = refusal !== undefined;
  const fields = isRefused ? call.form : call.query;
  const read = readTuple(fields);
  if ('refusal' in read) throw new GrantdError('invalid-request', Object.values(read.refusal.messages).join(' '));
  const { tuple } = read;
  const tenant = await (isRefused ? readTenantOrId(call) : readTenant(call));
  const terms = TERM_FIELDS.map((name) => [name, fields.text(name)] as const);
  const typed = Object.fromEntries(terms.filter(([, value]) => value !== ''));
  const form = changeForm(
    call.session,
    tenantPath(tenant.tenantId, 'grants/revoke'),
    html`${formError({ fields, refusal })}${hidden({ ...tuple, ...typed })}
      ${submitOrLeave('Revoke', 'danger', besidePath(tenant.tenantId, tuple))}`,
  );
  const content = html`<h2>Revoke this grant</h2>
    <p class="tuple-text">${tupleMarkup(tenant.tenantId, tuple)}</p>
    ${!isRefused && (await revocationMarkup(call, tuple))}
    <p>The revocation holds for every check that starts afterwards, on every front. You can undo it on the next page,
      which creates the grant again with a new ID.</p>
    ${form}`;
  return confirmPage(tenant, 'grants', 'Revoke a grant', content, { refusal, wide: true });
}

export async function revokeGrant(call: PageCall): Promise<PageResult | Refusal> {
  const read = readTuple(call.form);
  if ('refusal' in read) return read.refusal;
  const { tuple } = read;
  const { tenantId, result } = await writeOne(call, { ...tuple, revoke: true });
  if (result.kind === 'refused') return refuseGrant(result.code, result.message);
  const held = tupleText(tuple);
  const to = besidePath(tenantId, tuple);
  if (result.kind !== 'revoked') {
    return { kind: 'redirect', to, notice: `The grant had already been revoked: ${held}` };
  }
  const notice = `Grant revoked: ${held}`;
  const asked = readTerms(call.form, call.clock.wallMs());
  if ('refusal' in asked) return { kind: 'redirect', to, notice };
  // The form that creates it: if it is sent twice, or after another operator was faster, it changes nothing more.
  const fields = { ...tuple, ...termsAsTyped(asked.terms) };
  const path = tenantPath(tenantId, 'grants');
  return { kind: 'redirect', to, notice, undo: { path, fields, label: `Undo: create ${held} again` } };
}
