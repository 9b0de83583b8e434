// The grants of a tenant: a page of subjects, then the grants of one of them, or those on an object ("who may"). A
// grant is added next to the others of its subject, and revoked from its row, after a confirmation and with an undo.

import { assert } from '../../../core/assert.ts';
import type { GrantFilter, GrantRefusal } from '../../../core/bulk-writes.ts';
import { GrantdError } from '../../../core/errors.ts';
import { describeWarning, unfollowedWarnings } from '../../../core/service-warnings.ts';
import { type Grant, isIdentifier } from '../../../core/tuples.ts';
import type { OperatorTenantSession } from '../../../front/front.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { hasRules, type RuleSet } from '../../../rules/rule-set.ts';
import { type Refusal, refuse } from '../forms.ts';
import { openTenant, type PageCall, type PageResult, readTenant, tenantPath, tenantSessionOf } from '../page.ts';
import { askQuestion } from '../parts/context-fields.ts';
import { changeForm, formError, hidden, queryForm, refilled, submit, submitOrLeave } from '../parts/form-parts.ts';
import {
  conditionField,
  expiryFields,
  objectField,
  readTerms,
  readTuple,
  refuseTyped,
  relationField,
  subjectField,
  termsAsTyped,
} from '../parts/grant-form.ts';
import { confirmPage, tenantPage } from '../parts/layout.ts';
import {
  buttonLink,
  code,
  copyCode,
  crumb,
  empty,
  entityLink,
  expiry,
  foreign,
  moment,
  objectLink,
  pager,
  section,
  table,
} from '../parts/parts.ts';
import { holdersSection } from './listings.ts';

const ROWS_PER_PAGE = 50;
/** The field of the form that a refusal of the tenant's owner concerns; others concern the plan. */
const FIELDS_REFUSED: Partial<Record<GrantRefusal, string>> = {
  'invalid-relation': 'relation',
  'invalid-condition': 'condition',
  'type-not-allowed': 'subject',
};

/** The link also has the terms of the grant, so that it can be undone. */
function revokeLink(tenantId: string, grant: Grant): Markup {
  const { subject, relation, object } = grant;
  const fields = { subject, relation, object, ...termsAsTyped(grant) };
  const path = tenantPath(tenantId, 'grants/revoke', fields);
  return buttonLink(path, 'Revoke …', 'danger outline', `Revoke ${relation} on ${object}`);
}

/** Subjects whose last grant was revoked or has expired remain listed for a while. */
async function withoutGrants(
  call: PageCall,
  session: OperatorTenantSession,
  subjects: readonly string[],
): Promise<ReadonlySet<string>> {
  const empties = await Promise.all(
    subjects.map(async (subject) => {
      try {
        const query = { of: { subject }, relation: undefined, limit: 1, cursor: undefined };
        const { items, nextCursor } = await session.call(CALLS.listGrants, call.context(), query);
        return items.length === 0 && nextCursor === undefined ? [subject] : [];
      } catch (error) {
        // The mark is a convenience: without it, the page of the subject says the same.
        if (!(error instanceof GrantdError)) throw error;
        return [];
      }
    }),
  );
  return new Set(empties.flat());
}

async function subjectsListing(call: PageCall, session: OperatorTenantSession): Promise<Markup> {
  const { tenantId } = session;
  const cursor = call.query.optional('cursor');
  const { items, nextCursor } = await session.call(CALLS.listSubjects, call.context(), {
    limit: ROWS_PER_PAGE,
    cursor,
  });
  const empties = await withoutGrants(call, session, items);
  const listing =
    items.length === 0
      ? empty(
          'This tenant has no grants',
          'No subject is authorized for anything yet. Create the first grant below, or import a file with “grantd import”.',
        )
      : html`<p class="hint">In the order of their characters: “u10” comes before “u2”.</p>
          <ul class="subjects">${items.map(
            (subject) =>
              html`<li>${entityLink(tenantId, subject, false)}${empties.has(subject) && html` <small>no grants any more</small>`}</li>`,
          )}</ul>`;
  return section('subjects', 'Subjects', [listing, pager(tenantPath(tenantId, 'grants'), {}, cursor, nextCursor)]);
}

/** What else may follow from groups and rules. */
function scopeHint(tenantId: string, of: GrantFilter['of'], ruleSet: RuleSet | undefined): Markup {
  const hint =
    'subject' in of
      ? html`Only its own grants. What follows from groups and rules too is under <a href=${tenantPath(tenantId, 'objects', { subject: of.subject })}>Objects</a>.`
      : ruleSet !== undefined &&
        hasRules(ruleSet) &&
        'Only grants on the object itself. By the rules, others may hold a relation too: list who holds it below.';
  return hint && html`<p class="hint">${hint}</p>`;
}

async function grantsListing(
  call: PageCall,
  session: OperatorTenantSession,
  of: GrantFilter['of'],
  ruleSet?: RuleSet,
): Promise<Markup> {
  const { tenantId } = session;
  const cursor = call.query.optional('cursor');
  const query = { of, relation: undefined, limit: ROWS_PER_PAGE, cursor };
  const { items, nextCursor } = await session.call(CALLS.listGrants, call.context(), query);
  const [kind, title] =
    'subject' in of
      ? ['subject', html`What ${foreign(of.subject)} holds`]
      : ['object', html`Who may on ${foreign(of.object)}`];
  const nowMs = call.clock.wallMs();
  const listing =
    items.length > 0
      ? table<Grant>(`Grants of the ${kind}`, items, [
          ['Relation', ({ relation }) => relation],
          kind === 'subject'
            ? ['Object', ({ object }) => objectLink(tenantId, object)]
            : ['Subject', ({ subject }) => entityLink(tenantId, subject, ruleSet?.groups === true)],
          ['Created', ({ createdAtMs }) => moment(createdAtMs)],
          ['Expires', ({ expiresAtMs }) => expiry(expiresAtMs, nowMs)],
          ['Condition', ({ condition }) => (condition === undefined ? '' : code(condition))],
          ['Id', ({ grantId }) => copyCode(grantId)],
          ['Actions', (grant) => revokeLink(tenantId, grant), 'actions'],
        ])
      : nextCursor === undefined
        ? empty(`This ${kind} has no grants`, `Create a grant below, or search for another ${kind}.`)
        : empty('Nothing here', `Many grants of this ${kind} were revoked: continue with the next page.`);
  const revokeAll = buttonLink(
    tenantPath(tenantId, 'grants/revoke-all', { ...of }),
    'Revoke all of them …',
    'danger outline',
  );
  return html`<section aria-labelledby="grants-title">
    ${crumb(tenantPath(tenantId, 'grants'), 'All subjects')}
    <h2 id="grants-title">${title}</h2>
    ${scopeHint(tenantId, of, ruleSet)}
    ${listing}${pager(tenantPath(tenantId, 'grants'), { ...of }, cursor, nextCursor)}
    ${items.length > 0 && html`<p>${revokeAll}</p>`}
  </section>`;
}

/** Who may: the grants on the object, and who holds a relation on it, by grants and rules. */
async function objectSections(
  call: PageCall,
  session: OperatorTenantSession,
  ruleSet: RuleSet,
  object: string,
): Promise<{ readonly markup: Markup; readonly refusal: Refusal | undefined }> {
  const { markup, isAsked, refusal } = await holdersSection(call, session, ruleSet, object);
  const grants = isAsked ? undefined : await grantsListing(call, session, { object }, ruleSet);
  return { markup: [grants, markup], refusal };
}

function grantForm(
  call: PageCall,
  tenantId: string,
  ruleSet: RuleSet,
  subject: string,
  refusal: Refusal | undefined,
): Markup {
  const filled = refilled(call.form, refusal);
  const form = changeForm(
    call.session,
    tenantPath(tenantId, 'grants'),
    html`${formError(filled)}
      ${subjectField({ id: 'new-subject', value: subject, required: true }, filled)}
      ${relationField(ruleSet, filled)}
      ${objectField(filled)}
      ${expiryFields(filled)}
      ${conditionField(ruleSet, filled)}
      ${submit('Create the grant')}`,
  );
  const many = html`<p><a href=${tenantPath(tenantId, 'grants/lines')}>Create many grants at once</a></p>`;
  return section('new-grant', 'Create a grant', [form, many], 'card');
}

/** `refusal`: of a write, whose subject stays chosen. */
export async function grantsPage(call: PageCall, refusal?: Refusal): Promise<PageResult> {
  const { tenant, session } = await openTenant(call);
  const { tenantId } = tenant;
  const ruleSet = await session.call(CALLS.readRules, call.context(), undefined);
  const path = tenantPath(tenantId, 'grants');
  const written = isIdentifier(call.form.typed('subject')) ? call.form.typed('subject') : '';
  const subject = refusal === undefined ? call.query.typed('subject') : written;
  const object = refusal === undefined ? call.query.typed('object') : '';
  const refusedSearch = refuseTyped({
    subject: subject === '' ? undefined : subject,
    object: object === '' ? undefined : object,
  });
  const searched = refilled(call.query, refusedSearch);
  const finder = html`<search>
    ${queryForm(path, [subjectField({ value: subject }, searched), submit('Show grants', 'secondary')])}
    ${queryForm(path, [objectField(searched, { id: 'searched-object', value: object }), submit('Show who may', 'secondary')])}
  </search>`;
  const fits = isIdentifier(subject);
  const onObject = fits || !isIdentifier(object) ? undefined : await objectSections(call, session, ruleSet, object);
  const listing = fits
    ? await grantsListing(call, session, { subject })
    : onObject !== undefined
      ? onObject.markup
      : refusedSearch === undefined && (await subjectsListing(call, session));
  const content = [finder, listing, grantForm(call, tenantId, ruleSet, fits ? subject : '', refusal)];
  const refused = refusal ?? refusedSearch ?? onObject?.refusal;
  return tenantPage(tenant, 'grants', `Grants of ${tenant.name}`, content, refused);
}

/** Asks for confirmation: a click on the wrong row would remove an access. */
export async function askToRevokeGrant(call: PageCall): Promise<PageResult> {
  const read = readTuple(call.query);
  if ('refusal' in read) return grantsPage(call, read.refusal);
  const tenant = await readTenant(call);
  const { subject, relation, object } = read.tuple;
  const typed = Object.fromEntries(
    ['expires', 'expires-at', 'condition']
      .map((name) => [name, call.query.text(name)])
      .filter(([, value]) => value !== ''),
  );
  const form = changeForm(
    call.session,
    tenantPath(tenant.tenantId, 'grants/revoke'),
    html`${hidden({ ...read.tuple, ...typed })}
      ${submitOrLeave('Revoke', 'danger', tenantPath(tenant.tenantId, 'grants', { subject }))}`,
  );
  const content = html`<h2>Revoke this grant</h2>
    <p>${foreign(subject)} <strong>${relation}</strong> ${foreign(object)}</p>
    <p>Checks that start afterwards are denied, on every front, unless other grants and the tenant’s rules still allow
      them. You can undo this on the next page, which creates the grant
      again with a new ID.</p>
    ${form}`;
  return confirmPage(tenant, 'grants', 'Revoke a grant', content);
}

async function writeGrant(call: PageCall, revoke: boolean): Promise<PageResult | Refusal> {
  const { form, clock } = call;
  const read = readTuple(form);
  if ('refusal' in read) return read.refusal;
  const { tuple } = read;
  const asked = readTerms(form, clock.wallMs());
  if ('refusal' in asked && !revoke) return asked.refusal;
  const terms = 'terms' in asked ? asked.terms : {};
  const session = await tenantSessionOf(call);
  const [result] = await session.call(CALLS.writeGrants, call.context(), [
    revoke ? { ...tuple, revoke } : { ...tuple, ...terms, revoke },
  ]);
  assert(result !== undefined, 'every write has a result');
  if (result.kind === 'refused') {
    const field = FIELDS_REFUSED[result.code];
    return field === undefined ? refuse('form', result.message, 403) : refuse(field, result.message);
  }
  const held = `${tuple.subject} ${tuple.relation} ${tuple.object}`;
  const event = {
    created: 'Grant created',
    exists: `The grant ${terms.expiresAtMs === undefined ? 'already existed' : 'has the new expiry now'}`,
    revoked: 'Grant revoked',
    'not-found': 'The grant had already been revoked',
  }[result.kind];
  const warnings = 'grantId' in result ? unfollowedWarnings([result]).map(describeWarning) : [];
  const to = tenantPath(session.tenantId, 'grants', { subject: tuple.subject });
  const done = { kind: 'redirect', to, notice: [`${event}: ${held}`, ...warnings].join('. ') } as const;
  if (result.kind !== 'revoked' || 'refusal' in asked) return done;
  // The form that creates it: if it is sent twice, or after another operator was faster, it changes nothing more.
  const fields = { ...tuple, ...termsAsTyped(terms) };
  const path = tenantPath(session.tenantId, 'grants');
  return { ...done, undo: { path, fields, label: `Undo: create ${held} again` } };
}

export const createGrant = (call: PageCall): Promise<PageResult | Refusal> => writeGrant(call, false);
export const revokeGrant = (call: PageCall): Promise<PageResult | Refusal> => writeGrant(call, true);

export const askHolders = askQuestion('grants', ['object', 'direct'], (call) => grantsPage(call));
