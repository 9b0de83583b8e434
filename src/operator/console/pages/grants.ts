// The grants of a tenant: a page of subjects, then the grants of one of them, or those on an object ("who may"). A
// grant is added next to the others of its subject, and revoked from its row, after a confirmation and with an undo.

import { assert } from '../../../core/assert.ts';
import type { GrantFilter } from '../../../core/bulk-writes.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { ExpiryRequest } from '../../../core/grant-expiry.ts';
import { describeWarning, unfollowedWarnings } from '../../../core/service-warnings.ts';
import { type Grant, isIdentifier } from '../../../core/tuples.ts';
import type { OperatorTenantSession } from '../../../front/front.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { hasRules, type RuleSet } from '../../../rules/rule-set.ts';
import { type Refusal, refuse, refuseThrown } from '../forms.ts';
import {
  type ConsolePage,
  type PageCall,
  type PageDependencies,
  type PageResult,
  pathTo,
  tenantSessionOf,
} from '../page.ts';
import { copyCode } from '../parts/copy.ts';
import { entityLink } from '../parts/entity-links.ts';
import { expiryAsTyped, expiryFields, readExpiry, expiry as shownExpiry } from '../parts/expiry-form.ts';
import { changeForm, type Filled, formError, submit } from '../parts/form-parts.ts';
import { tenantFrame } from '../parts/layout.ts';
import { empty, foreign, moment, pager, table } from '../parts/parts.ts';
import {
  OBJECT_REFUSED,
  objectField,
  readTuple,
  relationField,
  SUBJECT_REFUSED,
  subjectField,
} from '../parts/tuple-form.ts';
import { type HoldersSection, holdersSection } from './holders.ts';
import { readTenant } from './tenant.ts';

const ROWS_PER_PAGE = 50;

function addForm(call: PageCall, parts: readonly string[], subject: string, filled: Filled | undefined): Markup {
  return changeForm(
    call.session,
    pathTo(parts),
    html`${formError(filled)}
      ${subjectField({ id: 'new-subject', value: subject, required: true }, filled)}
      ${relationField(filled)}
      ${objectField(filled)}
      ${expiryFields(filled)}
      ${submit('Create the grant')}`,
  );
}

/** The link also says when the grant expires, so that it can be undone. */
function revokeLink(parts: readonly string[], { subject, relation, object, expiresAtMs }: Grant): Markup {
  const fields = { subject, relation, object, ...expiryAsTyped(expiresAtMs) };
  return html`<a class="button danger outline" href=${pathTo([...parts, 'revoke'], fields)}
    aria-label="Revoke ${relation} on ${object}">Revoke …</a>`;
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

async function subjectsListing(
  call: PageCall,
  session: OperatorTenantSession,
  parts: readonly string[],
): Promise<Markup> {
  const cursor = call.query.optional('cursor');
  const page = await session.call(CALLS.listSubjects, call.context(), { limit: ROWS_PER_PAGE, cursor });
  const empties = await withoutGrants(call, session, page.items);
  const listing =
    page.items.length === 0
      ? empty(
          'This tenant has no grants',
          'No subject is authorized for anything yet. Create the first grant below, or import a file with “grantd import”.',
        )
      : html`<p class="hint">In the order of their characters: “u10” comes before “u2”.</p>
          <ul class="subjects">${page.items.map(
            (subject) =>
              html`<li><a href=${pathTo(parts, { subject })}>${foreign(subject)}</a>${
                empties.has(subject) ? html` <small>no grants any more</small>` : undefined
              }</li>`,
          )}</ul>`;
  return html`<section aria-labelledby="subjects-title">
    <h2 id="subjects-title">Subjects</h2>
    ${listing}${pager({ parts, query: {}, cursor, next: page.nextCursor })}
  </section>`;
}

async function grantsListing(
  call: PageCall,
  session: OperatorTenantSession,
  parts: readonly string[],
  of: GrantFilter['of'],
  { nowMs, ruleSet }: { readonly nowMs: number; readonly ruleSet?: RuleSet },
): Promise<Markup> {
  const cursor = call.query.optional('cursor');
  const page = await session.call(CALLS.listGrants, call.context(), {
    of,
    relation: undefined,
    limit: ROWS_PER_PAGE,
    cursor,
  });
  const [what, title, counterpart] =
    'subject' in of
      ? (['subject', html`What ${foreign(of.subject)} holds`, 'object'] as const)
      : (['object', html`Who may on ${foreign(of.object)}`, 'subject'] as const);
  const isRuled = ruleSet !== undefined && hasRules(ruleSet);
  const following =
    'subject' in of
      ? html`Only its own grants. What follows from groups and rules too is under <a href=${pathTo(['tenants', session.tenantId, 'objects'], { subject: of.subject })}>Objects</a>.`
      : isRuled
        ? 'Only grants on the object itself. By the rules, others may hold a relation too: list who holds it below.'
        : undefined;
  const listing =
    page.items.length === 0
      ? empty(
          page.nextCursor === undefined ? `This ${what} has no grants` : 'Nothing here',
          page.nextCursor === undefined
            ? `Create a grant below, or search for another ${what}.`
            : `Many grants of this ${what} were revoked: continue with the next page.`,
        )
      : table<Grant>(
          `Grants of the ${what}`,
          [
            { title: 'Relation', cell: ({ relation }) => relation },
            {
              title: counterpart === 'object' ? 'Object' : 'Subject',
              cell: ({ [counterpart]: text }) =>
                counterpart === 'object'
                  ? html`<a href=${pathTo(parts, { object: text })}>${foreign(text)}</a>`
                  : entityLink(session.tenantId, text, ruleSet?.groups === true),
            },
            { title: 'Created', cell: ({ createdAtMs }) => moment(createdAtMs) },
            { title: 'Expires', cell: ({ expiresAtMs }) => shownExpiry(expiresAtMs, nowMs) },
            { title: 'Id', cell: ({ grantId }) => copyCode(grantId) },
            { title: 'Actions', kind: 'actions', cell: (grant) => revokeLink(parts, grant) },
          ],
          page.items,
        );
  return html`<section aria-labelledby="grants-title">
    <p class="crumb"><a href=${pathTo(parts)}>All subjects</a></p>
    <h2 id="grants-title">${title}</h2>
    ${following === undefined ? undefined : html`<p class="hint">${following}</p>`}
    ${listing}${pager({ parts, query: { ...of }, cursor, next: page.nextCursor })}
    ${
      page.items.length === 0
        ? undefined
        : html`<p><a class="button danger outline" href=${pathTo([...parts, 'revoke-all'], { ...of })}>Revoke all of them …</a></p>`
    }
  </section>`;
}

/** Who may: the grants on the object, and who holds a relation on it, by grants and rules. */
async function objectSections(
  call: PageCall,
  session: OperatorTenantSession,
  parts: readonly string[],
  object: string,
  nowMs: number,
): Promise<Pick<HoldersSection, 'markup' | 'refusal'>> {
  const ruleSet = await session.call(CALLS.readRules, call.context(), undefined);
  const { markup, isAsked, refusal } = await holdersSection(call, session, ruleSet, object);
  const of = { object };
  const grants = isAsked ? undefined : await grantsListing(call, session, parts, of, { nowMs, ruleSet });
  return { markup: html`${grants}${markup}`, refusal };
}

/** Undefined if there is no search, or if the search is for an identifier. */
function refusedSearch(subject: string, object: string): Refusal | undefined {
  if (subject !== '' && !isIdentifier(subject)) return refuse('subject', SUBJECT_REFUSED);
  if (object !== '' && !isIdentifier(object)) return refuse('object', OBJECT_REFUSED);
  return undefined;
}

async function grantsPage(
  dependencies: PageDependencies,
  call: PageCall,
  shown: { readonly subject: string; readonly object?: string; readonly refusal?: Refusal },
): Promise<PageResult> {
  const tenant = await readTenant(dependencies, call);
  const session = await tenantSessionOf(dependencies.operator, call);
  const parts = ['tenants', tenant.tenantId, 'grants'];
  const { subject, object = '', refusal } = shown;
  const fits = isIdentifier(subject);
  const search = refusal === undefined ? refusedSearch(subject, object) : undefined;
  const searched = search === undefined ? undefined : { fields: call.query, refusal: search };
  const finder = html`<search><form method="get" action=${pathTo(parts)} class="form-row" novalidate>
    ${subjectField({ value: subject }, searched)}
    ${submit('Show grants', 'secondary')}
  </form>
  <form method="get" action=${pathTo(parts)} class="form-row" novalidate>
    ${objectField(searched, { id: 'searched-object', value: object })}
    ${submit('Show who may', 'secondary')}
  </form></search>`;
  const nowMs = dependencies.clock.wallMs();
  const onObject =
    fits || !isIdentifier(object) ? undefined : await objectSections(call, session, parts, object, nowMs);
  const listing = fits
    ? await grantsListing(call, session, parts, { subject }, { nowMs })
    : onObject !== undefined
      ? onObject.markup
      : search === undefined
        ? await subjectsListing(call, session, parts)
        : undefined;
  const filled = refusal === undefined ? undefined : { fields: call.form, refusal };
  const content = html`${finder}${listing}
    <section class="card" aria-labelledby="new-grant-title"><h2 id="new-grant-title">Create a grant</h2>${addForm(call, parts, fits ? subject : '', filled)}
      <p><a href=${pathTo([...parts, 'lines'])}>Create many grants at once</a></p></section>`;
  const status = (refusal ?? search ?? onObject?.refusal)?.status ?? 200;
  return { kind: 'page', status, title: `Grants of ${tenant.name}`, body: tenantFrame(tenant, 'grants', content) };
}

/** Asks for confirmation: a click on the wrong row would remove an access. */
async function askToRevoke(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const read = readTuple(call.query);
  if ('refusal' in read) return grantsPage(dependencies, call, { subject: '', refusal: read.refusal });
  const tenant = await readTenant(dependencies, call);
  const { subject, relation, object } = read.tuple;
  const parts = ['tenants', tenant.tenantId, 'grants'];
  const typed = ['expires', 'expires-at'].flatMap((name): [string, string][] => {
    const value = call.query.optional(name);
    return value === undefined ? [] : [[name, value]];
  });
  const hidden = [...Object.entries(read.tuple), ...typed].map(
    ([name, value]) => html`<input type="hidden" name=${name} value=${value} />`,
  );
  const form = changeForm(
    call.session,
    pathTo([...parts, 'revoke']),
    html`${hidden}<p class="buttons">${submit('Revoke', 'danger')}
      ${' '}<a class="button secondary outline" href=${pathTo(parts, { subject })}>Cancel</a></p>`,
  );
  const content = html`<section class="confirm">
    <h2>Revoke this grant</h2>
    <p>${foreign(subject)} <strong>${relation}</strong> ${foreign(object)}</p>
    <p>Checks that start afterwards are denied, on every front, unless other grants and the tenant’s rules still allow
      them. You can undo this on the next page, which creates the grant
      again with a new ID.</p>
    ${form}
  </section>`;
  return { kind: 'page', status: 200, title: 'Revoke a grant', body: tenantFrame(tenant, 'grants', content) };
}

async function write(dependencies: PageDependencies, call: PageCall, revoke: boolean): Promise<PageResult> {
  const { form } = call;
  const subjectTyped = form.text('subject').trim();
  const again = (refusal: Refusal): Promise<PageResult> =>
    grantsPage(dependencies, call, { subject: isIdentifier(subjectTyped) ? subjectTyped : '', refusal });
  const read = readTuple(form);
  if ('refusal' in read) return again(read.refusal);
  const { tuple } = read;
  const nowMs = dependencies.clock.wallMs();
  const end = readExpiry(form, nowMs);
  if ('refusal' in end && !revoke) return again(end.refusal);
  const expiry: ExpiryRequest = 'expiry' in end ? end.expiry : {};
  try {
    const session = await tenantSessionOf(dependencies.operator, call);
    const [result] = await session.call(CALLS.writeGrants, call.context(), [
      revoke ? { ...tuple, revoke } : { ...tuple, ...expiry, revoke },
    ]);
    assert(result !== undefined, 'every write has a result');
    if (result.kind === 'refused') return again(refuse('form', result.message, 403));
    const held = `${tuple.subject} ${tuple.relation} ${tuple.object}`;
    const notice = {
      created: `Grant created: ${held}`,
      exists: `The grant ${expiry.expiresAtMs === undefined ? 'already existed' : 'has the new expiry now'}: ${held}`,
      revoked: `Grant revoked: ${held}`,
      'not-found': `The grant had already been revoked: ${held}`,
    }[result.kind];
    const parts = ['tenants', session.tenantId, 'grants'];
    const warnings = 'grantId' in result ? unfollowedWarnings([result]).map(describeWarning) : [];
    const told = [notice, ...warnings].join('. ');
    const redirect = { kind: 'redirect', to: pathTo(parts, { subject: tuple.subject }), notice: told } as const;
    if (result.kind !== 'revoked' || 'refusal' in end) return redirect;
    // The form that creates it: if it is sent twice, or after another operator was faster, it changes nothing more.
    return {
      ...redirect,
      undo: {
        path: pathTo(parts),
        fields: { ...tuple, ...expiryAsTyped(expiry.expiresAtMs ?? undefined) },
        label: `Undo: create ${held} again`,
      },
    };
  } catch (error) {
    return again(refuseThrown(error));
  }
}

export function grantPages(dependencies: PageDependencies): readonly ConsolePage[] {
  const path = '/tenants/:tenantId/grants';
  return [
    {
      method: 'GET',
      path,
      name: 'page-grants',
      access: 'read-only',
      run: (call) =>
        grantsPage(dependencies, call, {
          subject: call.query.text('subject').trim(),
          object: call.query.text('object').trim(),
        }),
    },
    { method: 'POST', path, name: 'page-create-grant', run: (call) => write(dependencies, call, false) },
    {
      method: 'GET',
      path: `${path}/revoke`,
      name: 'page-revoke-grant',
      run: (call) => askToRevoke(dependencies, call),
    },
    {
      method: 'POST',
      path: `${path}/revoke`,
      name: 'page-revoke-grant',
      run: (call) => write(dependencies, call, true),
    },
  ];
}
