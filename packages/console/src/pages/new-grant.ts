// Creates a grant, next to the others of its subject.

import { assert } from '../../../../src/core/assert.ts';
import type { GrantedTuple, GrantRefusal } from '../../../../src/core/bulk-writes.ts';
import { describeWarning, unfollowedWarnings } from '../../../../src/core/service-warnings.ts';
import { isSubject, tupleText } from '../../../../src/core/tuples.ts';
import { html } from '../../../../src/http/pages/markup.ts';
import { NO_RULES, type RuleSet } from '../../../../src/rules/rule-set.ts';
import { type Refusal, refuse } from '../forms.ts';
import {
  type PageCall,
  type PageResult,
  readRuleSet,
  readTenantOrId,
  redirect,
  tenantPath,
  tenantSessionOf,
} from '../page.ts';
import { refilled } from '../parts/form-parts.ts';
import { grantForm, readTerms, readTuple } from '../parts/grant-form.ts';
import { tenantPage } from '../parts/layout.ts';
import { besidePath, crumb } from '../parts/parts.ts';

/** The field of the form that a refusal of the tenant's owner concerns; others concern the plan. */
const FIELDS_REFUSED: Partial<Record<GrantRefusal, string>> = {
  'invalid-relation': 'relation',
  'invalid-condition': 'condition',
  'invalid-subject': 'subject',
  'type-not-allowed': 'subject',
};

export const refuseGrant = (code: GrantRefusal, message: string): Refusal => {
  const field = FIELDS_REFUSED[code];
  return field === undefined ? refuse('form', message, 403) : refuse(field, message);
};

const EVENTS = {
  created: 'Grant created',
  changed: 'The grant existed, and has the new terms now',
  exists: 'The grant already existed, and is as it was',
};

/** Writes one grant, or revokes it. */
export async function writeOne(call: PageCall, write: GrantedTuple & { readonly revoke: boolean }) {
  const session = await tenantSessionOf(call);
  const [result] = await session.call('writeGrants', call.context(), [write]);
  assert(result !== undefined, 'every write has a result');
  return { tenantId: session.tenantId, result };
}

/** For the relations that the form offers; a form that is refused is shown all the same. */
async function rulesOf(call: PageCall, isRefused: boolean): Promise<RuleSet> {
  try {
    return await readRuleSet(call, await tenantSessionOf(call));
  } catch (error) {
    if (!isRefused) throw error;
    return NO_RULES;
  }
}

/** The form on a page of its own. */
export async function newGrantPage(call: PageCall, refusal?: Refusal): Promise<PageResult> {
  const tenant = await readTenantOrId(call);
  const ruleSet = await rulesOf(call, refusal !== undefined);
  const fields = refusal === undefined ? call.query : call.form;
  const valid = (name: string): object => (isSubject(fields.typed(name)) ? { [name]: fields.typed(name) } : {});
  const shown = { ...valid('subject'), ...valid('object') };
  const form = grantForm(call.session, tenant.tenantId, ruleSet, shown, refilled(call.form, refusal));
  const content = html`${crumb(tenantPath(tenant.tenantId, 'grants'), 'Grants')}<div class="card">${form}</div>`;
  return tenantPage(tenant, 'grants', 'Create a grant', content, refusal);
}

export async function createGrant(call: PageCall): Promise<PageResult | Refusal> {
  const { form, clock } = call;
  const read = readTuple(form);
  if ('refusal' in read) return read.refusal;
  const asked = readTerms(form, clock.wallMs());
  if ('refusal' in asked) return asked.refusal;
  const { tuple } = read;
  const { tenantId, result } = await writeOne(call, { ...tuple, ...asked.terms, revoke: false });
  if (result.kind === 'refused') return refuseGrant(result.code, result.message);
  assert('grantId' in result, 'a grant is created or exists');
  const warnings = unfollowedWarnings([result]).map(describeWarning);
  const notice = [`${EVENTS[result.kind]}: ${tupleText(tuple)}`, ...warnings].join('. ');
  return redirect(besidePath(tenantId, tuple), notice);
}
