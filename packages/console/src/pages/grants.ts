// The grants of a tenant: its subjects with how many they have, and the two sides of one entity: the grants of it as a
// subject, and those on it as an object, with who holds a name there by the rules. One search leads to either side.

import type { GrantFilter } from '../../../../src/core/bulk-writes.ts';
import { GrantdError } from '../../../../src/core/errors.ts';
import { PAGE_LIMIT_MAX } from '../../../../src/core/limits.ts';
import { EVERY_SUBJECT, type Grant, isIdentifier, isRelationName, type Relation } from '../../../../src/core/tuples.ts';
import type { OperatorTenantSession } from '../../../../src/front/front.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { hasRules, type RuleSet } from '../../../../src/rules/rule-set.ts';
import { sidesOf } from '../entity-sides.ts';
import { type Refusal, refuse } from '../forms.ts';
import { openTenant, type PageCall, type PageResult, type Query, readRuleSet, redirect, tenantPath } from '../page.ts';
import { askQuestion } from '../parts/context-fields.ts';
import { queryForm, refilled, submit, textField } from '../parts/form-parts.ts';
import { grantDialog, revokeLink } from '../parts/grant-form.ts';
import { tenantPage } from '../parts/layout.ts';
import {
  buttonLink,
  copyCode,
  count,
  crumb,
  empty,
  entityLink,
  foreign,
  minute,
  objectLink,
  pager,
  section,
  table,
  termColumns,
} from '../parts/parts.ts';
import { filteredGrants, kindForm, kindOf } from './filtered-grants.ts';
import { holdersSection } from './listings.ts';

const ROWS_PER_PAGE = 50;
/** Grants of a subject that the list of subjects counts. */
const COUNTED_MAX = 50;
/** Grants of a subject that the list shows. */
const SHOWN_MAX = 2;
/** Namespaces that the search offers. */
const OFFERED_MAX = 100;
const ENTITY_REFUSED = 'Enter a subject or an object as namespace:id, such as user:ada, without spaces.';

type Anchor = GrantFilter['of'];

/** The grants of one side of an entity, by relation. */
interface Tally {
  readonly total: number;
  readonly relations: ReadonlyMap<Relation, number>;
  /** There are more. */
  readonly isCut: boolean;
}

const isSubject = (of: Anchor): of is { readonly subject: string } => 'subject' in of;
const entityOf = (of: Anchor): string => (isSubject(of) ? of.subject : of.object);
const countText = (number: number, isCut: boolean): string => `${count(number)}${isCut ? '+' : ''}`;

async function readTally(call: PageCall, session: OperatorTenantSession, of: Anchor): Promise<Tally> {
  const query = { of, relation: undefined, limit: PAGE_LIMIT_MAX, cursor: undefined };
  const { items, nextCursor } = await session.call('listGrants', call.context(), query);
  const byRelation = Map.groupBy(items, ({ relation }) => relation);
  const relations = new Map(Array.from(byRelation, ([relation, grants]) => [relation, grants.length]));
  return { total: items.length, relations, isCut: nextCursor !== undefined };
}

/** The namespaces that the search offers while one types; they are worth no error. */
async function namespacesOf(call: PageCall, session: OperatorTenantSession): Promise<readonly string[]> {
  try {
    const namespaces = await session.call('listNamespaces', call.context(), undefined);
    return namespaces.slice(0, OFFERED_MAX).map(({ name }) => `${name}:`);
  } catch (error) {
    if (!(error instanceof GrantdError)) throw error;
    return [];
  }
}

interface Search {
  readonly entity: string;
  /** What the browser offers while one types. */
  readonly offered: readonly string[];
  readonly refusal?: Refusal | undefined;
}

function searchForm(call: PageCall, tenantId: string, { entity, offered, refusal }: Search): Markup {
  const field = {
    name: 'entity',
    label: 'Subject or object',
    type: 'search',
    placeholder: 'user:ada or document:plan',
    value: entity,
    required: true,
    attributes: { list: 'entities' },
  } as const;
  const options = offered.map((value) => html`<option value=${value} />`);
  const content = html`${textField(field, refilled(call.query, refusal))}<datalist id="entities">${options}</datalist>
    ${submit('Find its grants', 'secondary')}`;
  return html`<search>${queryForm(tenantPath(tenantId, 'grants'), content, 'Find grants')}</search>`;
}

/** The grants of a subject as the list of subjects shows them; undefined: they could not be read. */
async function countGrants(call: PageCall, session: OperatorTenantSession, subject: string) {
  try {
    const query = { of: { subject }, relation: undefined, limit: COUNTED_MAX, cursor: undefined };
    const { items, nextCursor } = await session.call('listGrants', call.context(), query);
    return { items, isCut: nextCursor !== undefined };
  } catch (error) {
    // The count is a convenience: the page of the subject says the same.
    if (!(error instanceof GrantdError)) throw error;
    return undefined;
  }
}

interface CountedSubject {
  readonly subject: string;
  readonly counted: Awaited<ReturnType<typeof countGrants>>;
}

/** The first grants of a subject. */
function someGrants({ counted }: CountedSubject): Markup {
  if (counted === undefined) return html`<small>could not be read</small>`;
  const { items, isCut } = counted;
  // Subjects whose last grant was revoked or has expired remain listed for a while.
  if (items.length === 0 && !isCut) return html`<small>none left</small>`;
  const shown = items.slice(0, SHOWN_MAX).map(({ relation, object }) => html`${relation} ${foreign(object)}`);
  const parts = shown.flatMap((each, index) => (index === 0 ? [each] : [', ', each]));
  return html`<small>${parts}${items.length > SHOWN_MAX || isCut ? ', …' : ''}</small>`;
}

async function subjectsListing(
  call: PageCall,
  session: OperatorTenantSession,
): Promise<{ readonly markup: Markup; readonly subjects: readonly string[] }> {
  const { tenantId } = session;
  const cursor = call.query.optional('cursor');
  const page = await session.call('listSubjects', call.context(), { limit: ROWS_PER_PAGE, cursor });
  const { items: subjects, nextCursor } = page;
  const rows = await Promise.all(
    subjects.map(async (subject) => ({ subject, counted: await countGrants(call, session, subject) })),
  );
  const listing =
    rows.length === 0
      ? empty(
          'This tenant has no grants',
          'Nobody is authorized for anything yet. Create the first grant, or import a file with “grantd import”.',
        )
      : table<CountedSubject>('Subjects', rows, [
          ['Subject', ({ subject }) => entityLink(tenantId, subject, false)],
          ['Grants', ({ counted }) => counted && countText(counted.items.length, counted.isCut), 'number'],
          ['Such as', someGrants],
        ]);
  const order = rows.length > 1 && html`<p class="hint">Sorted by characters: “user:10” comes before “user:2”.</p>`;
  const markup = section('subjects', 'Subjects with grants', [
    listing,
    order,
    pager(tenantPath(tenantId, 'grants'), {}, cursor, nextCursor),
  ]);
  return { markup, subjects };
}

/** What else may follow from groups and rules. */
function scopeHint(tenantId: string, of: Anchor, ruleSet: RuleSet): Markup {
  if (!hasRules(ruleSet)) return undefined;
  const hint = isSubject(of)
    ? html`These are its own grants. <a href=${tenantPath(tenantId, 'objects', { subject: of.subject })}>Objects</a> also
        lists what follows from groups and rules.`
    : 'These are the grants on the object itself. Others may hold a name on it by the rules: see below.';
  return html`<p class="hint">${hint}</p>`;
}

function grantsTable(call: PageCall, tenantId: string, of: Anchor, ruleSet: RuleSet, grants: readonly Grant[]): Markup {
  const nowMs = call.clock.wallMs();
  return table<Grant>(`Grants of the ${isSubject(of) ? 'subject' : 'object'}`, grants, [
    ['Relation', ({ relation }) => relation],
    isSubject(of)
      ? ['Object', ({ object }) => objectLink(tenantId, object)]
      : ['Subject', ({ subject }) => entityLink(tenantId, subject, ruleSet.groups)],
    ...termColumns(grants, nowMs),
    ['Created', ({ createdAtMs }) => minute(createdAtMs)],
    ['ID', ({ grantId }) => copyCode(grantId)],
    ['Actions', (grant) => revokeLink(tenantId, grant), 'actions'],
  ]);
}

type Tallies = Readonly<Record<'subject' | 'object', Tally>>;

/** Links with counts, of which one is the current page. */
function countedLinks(
  label: string,
  kind: string,
  links: readonly {
    readonly href: string;
    readonly text: Markup;
    readonly counted: string;
    readonly isCurrent: boolean;
  }[],
): Markup {
  const items = links.map(
    ({ href, text, counted, isCurrent }) =>
      html`<li><a href=${href} aria-current=${isCurrent ? 'page' : undefined}>${text} <span class="count">${counted}</span></a></li>`,
  );
  return html`<nav class=${kind} aria-label=${label}><ul>${items}</ul></nav>`;
}

/** Both sides of the entity, with how many grants each has. */
function sidesMarkup(tenantId: string, of: Anchor, tallies: Tallies): Markup {
  const entity = entityOf(of);
  const side = (query: Query, text: string, { total, isCut }: Tally, isCurrent: boolean) => ({
    href: tenantPath(tenantId, 'grants', query),
    text,
    counted: countText(total, isCut),
    isCurrent,
  });
  return countedLinks('Sides', 'sides', [
    side({ subject: entity }, 'As a subject', tallies.subject, isSubject(of)),
    side({ object: entity }, 'As an object', tallies.object, !isSubject(of)),
  ]);
}

/** The relations of the grants, each with its count, as a filter. */
function relationsMarkup(
  tenantId: string,
  of: Anchor,
  { relations, total, isCut }: Tally,
  only: string | undefined,
): Markup {
  if (relations.size < 2 && only === undefined) return undefined;
  const link = (relation: string | undefined, text: string, counted: string) => ({
    href: tenantPath(tenantId, 'grants', { ...of, only: relation }),
    text,
    counted,
    isCurrent: relation === only,
  });
  const last = [...relations.keys()].at(-1);
  const each = Array.from(relations, ([relation, number]) =>
    link(relation, relation, countText(number, isCut && relation === last)),
  );
  return countedLinks('Relations', 'filters', [link(undefined, 'All', countText(total, isCut)), ...each]);
}

/** The grants of one side of an entity. */
async function grantsListing(
  call: PageCall,
  session: OperatorTenantSession,
  of: Anchor,
  ruleSet: RuleSet,
  tally: Tally,
): Promise<Markup> {
  const { tenantId } = session;
  const cursor = call.query.optional('cursor');
  const typed = call.query.text('only');
  const only = isRelationName(typed) ? typed : undefined;
  const query = { of, relation: only, limit: ROWS_PER_PAGE, cursor };
  const { items, nextCursor } = await session.call('listGrants', call.context(), query);
  const kind = isSubject(of) ? 'subject' : 'object';
  const listing =
    items.length > 0
      ? grantsTable(call, tenantId, of, ruleSet, items)
      : nextCursor === undefined
        ? empty(`This ${kind} has no grants`, `Create one, or look for another ${kind}.`)
        : empty('Nothing on this page', 'Its grants were revoked: continue with the next page.');
  const revokeAll = tenantPath(tenantId, 'grants/revoke-all', { ...of });
  return html`${relationsMarkup(tenantId, of, tally, only)}
    ${listing}
    ${scopeHint(tenantId, of, ruleSet)}
    ${pager(tenantPath(tenantId, 'grants'), { ...of, only }, cursor, nextCursor)}
    ${items.length > 0 && html`<p class="below">${buttonLink(revokeAll, 'Revoke all of them …', 'danger outline')}</p>`}`;
}

/** One side of an entity. */
async function entityPart(
  call: PageCall,
  session: OperatorTenantSession,
  of: Anchor,
  ruleSet: RuleSet,
): Promise<{ readonly markup: Markup; readonly refusal: Refusal | undefined }> {
  const { tenantId } = session;
  const entity = entityOf(of);
  const [subject, object, holders] = await Promise.all([
    readTally(call, session, { subject: entity }),
    readTally(call, session, { object: entity }),
    isSubject(of) ? undefined : holdersSection(call, session, ruleSet, entity),
  ]);
  const title = html`Grants ${isSubject(of) ? 'of' : 'on'} ${foreign(entity)}`;
  const tally = isSubject(of) ? subject : object;
  const head = html`${crumb(tenantPath(tenantId, 'grants'), 'All subjects')}
    <h2 id="grants-title">${title}</h2>
    ${sidesMarkup(tenantId, of, { subject, object })}`;
  // Who holds a relation takes the place of the grants.
  const grants = holders?.isAsked === true ? undefined : await grantsListing(call, session, of, ruleSet, tally);
  const markup = [html`<section aria-labelledby="grants-title">${head}${grants}</section>`, holders?.markup];
  return { markup, refusal: holders?.refusal };
}

/** The entity that was searched for leads to the side on which it has grants. */
async function find(call: PageCall, session: OperatorTenantSession, entity: string): Promise<PageResult> {
  const { asSubject, asObject } = await sidesOf(session, call.context, entity);
  const of = asObject && !asSubject ? { object: entity } : { subject: entity };
  return redirect(tenantPath(session.tenantId, 'grants', of));
}

function refuseEntity(entity: string): Refusal | undefined {
  return entity === '' || entity === EVERY_SUBJECT || isIdentifier(entity)
    ? undefined
    : refuse('entity', ENTITY_REFUSED);
}

export async function grantsPage(call: PageCall, refusal?: Refusal): Promise<PageResult> {
  const { tenant, session } = await openTenant(call);
  const { tenantId } = tenant;
  const { query } = call;
  const [searched, subject, object] = ['entity', 'subject', 'object'].map((name) => query.typed(name));
  const entity = searched || subject || object || '';
  const refusedSearch = refuseEntity(entity);
  if (searched && refusedSearch === undefined) return find(call, session, entity);
  const [ruleSet, offered] = await Promise.all([readRuleSet(call, session), namespacesOf(call, session)]);
  const of = refusedSearch !== undefined || entity === '' ? undefined : subject ? { subject } : { object: entity };
  const { link, dialog } = grantDialog(call.session, tenantId, ruleSet, of ?? {});
  const toolbar = (more: readonly string[]): Markup => {
    const search = { entity, offered: [...offered, ...more], refusal: refusedSearch };
    return html`<div class="toolbar">${searchForm(call, tenantId, search)}${link}</div>`;
  };
  const title = `Grants of ${tenant.name}`;
  const refused = refusal ?? refusedSearch;
  if (of !== undefined) {
    const part = await entityPart(call, session, of, ruleSet);
    return tenantPage(tenant, 'grants', title, [toolbar([]), part.markup, dialog], refused ?? part.refusal);
  }
  const kind = kindOf(call);
  const filter = kindForm(tenantId, ruleSet, kind);
  if (kind !== undefined) {
    const found = await filteredGrants(call, session, ruleSet, kind);
    return tenantPage(tenant, 'grants', title, [toolbar([]), filter, found, dialog], refused);
  }
  const listing = await subjectsListing(call, session);
  return tenantPage(tenant, 'grants', title, [toolbar(listing.subjects), filter, listing.markup, dialog], refused);
}

export const askHolders = askQuestion('grants', ['object', 'direct'], (call) => grantsPage(call));
