// The grants of a tenant of one relation, of the subjects of one namespace, or on its objects. No index leads to them:
// a page goes through all grants of the tenant in their order, a bounded number of them, and says in how many it
// looked.

import { PAGE_LIMIT_MAX } from '../../../../src/core/limits.ts';
import { type Grant, namespaceOf } from '../../../../src/core/tuples.ts';
import type { OperatorTenantSession } from '../../../../src/front/front.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import type { RuleSet } from '../../../../src/rules/rule-set.ts';
import { grantedNames } from '../../../../src/rules/rule-set.ts';
import { type PageCall, tenantPath } from '../page.ts';
import { choicesOf, queryForm, selectField, submit, textField } from '../parts/form-parts.ts';
import { revokeLink } from '../parts/grant-form.ts';
import { count, empty, entityLink, minute, objectLink, pager, section, table, termColumns } from '../parts/parts.ts';

const ROWS_MAX = 50;
/** Grants that one page looks at, in so many reads of their owner. */
const SCANNED_MAX = 10 * PAGE_LIMIT_MAX;
/** After this time, no further read begins. */
const SCAN_MS_MAX = 2000;

const FIELDS = ['relation', 'subjects', 'objects'] as const;
type GrantKind = Readonly<Record<(typeof FIELDS)[number], string>>;

/** What is asked for; undefined: nothing. */
export function kindOf({ query }: PageCall): GrantKind | undefined {
  const [relation = '', subjects = '', objects = ''] = FIELDS.map((field) => query.typed(field).replace(/:$/, ''));
  return relation + subjects + objects === '' ? undefined : { relation, subjects, objects };
}

export function kindForm(tenantId: string, ruleSet: RuleSet, kind: GrantKind | undefined): Markup {
  const { relation = '', subjects = '', objects = '' } = kind ?? {};
  const attributes = { list: 'entities' };
  const relations = choicesOf('any', grantedNames(ruleSet));
  const fields = html`
    ${selectField({ name: 'relation', label: 'Relation', choices: relations, value: relation, id: 'kind-relation' })}
    ${textField({ name: 'subjects', label: 'Namespace of the subjects', value: subjects, attributes })}
    ${textField({ name: 'objects', label: 'Namespace of the objects', value: objects, attributes })}
    ${submit('Show', 'secondary')}`;
  return html`<details open=${kind !== undefined}>
    <summary>Filter by relation or namespace</summary>
    <search>${queryForm(tenantPath(tenantId, 'grants'), fields, 'Filter grants')}</search>
  </details>`;
}

interface Scan {
  readonly found: readonly Grant[];
  readonly scanned: number;
  readonly nextCursor: string | undefined;
}

async function scan(call: PageCall, session: OperatorTenantSession, kind: GrantKind): Promise<Scan> {
  const { relation, subjects, objects } = kind;
  const isOfKind = (grant: Grant): boolean =>
    (relation === '' || grant.relation === relation) &&
    (subjects === '' || namespaceOf(grant.subject) === subjects) &&
    (objects === '' || namespaceOf(grant.object) === objects);
  const read = (limit: number, cursor: string | undefined) =>
    session.call('exportGrants', call.context(), { limit, cursor });
  const endMs = call.clock.monotonicMs() + SCAN_MS_MAX;
  const found: Grant[] = [];
  let scanned = 0;
  let cursor = call.query.optional('cursor');
  do {
    let page = await read(PAGE_LIMIT_MAX, cursor);
    const last = page.items.filter(isOfKind)[ROWS_MAX - found.length - 1];
    // A cursor stands behind a page: one that ends with the last row is read again.
    if (last !== undefined) page = await read(page.items.indexOf(last) + 1, cursor);
    found.push(...page.items.filter(isOfKind));
    scanned += page.items.length;
    cursor = page.nextCursor;
  } while (
    cursor !== undefined &&
    found.length < ROWS_MAX &&
    scanned < SCANNED_MAX &&
    call.clock.monotonicMs() < endMs
  );
  return { found, scanned, nextCursor: cursor };
}

export async function filteredGrants(
  call: PageCall,
  session: OperatorTenantSession,
  ruleSet: RuleSet,
  kind: GrantKind,
): Promise<Markup> {
  const { tenantId } = session;
  const { found, scanned, nextCursor } = await scan(call, session, kind);
  const path = tenantPath(tenantId, 'grants');
  const isWhole = call.query.optional('cursor') === undefined && nextCursor === undefined;
  const looked = `${count(found.length)} of ${isWhole ? 'all' : 'the next'} ${count(scanned)} grants, in the order of their subjects.`;
  const listing =
    found.length === 0
      ? empty(
          'No such grant',
          nextCursor === undefined ? 'Choose another relation or namespace.' : 'Further pages may have some.',
        )
      : table<Grant>('Grants', found, [
          ['Subject', ({ subject }) => entityLink(tenantId, subject, ruleSet.groups)],
          ['Relation', ({ relation }) => relation],
          ['Object', ({ object }) => objectLink(tenantId, object)],
          ...termColumns(found, call.clock.wallMs()),
          ['Created', ({ createdAtMs }) => minute(createdAtMs)],
          ['Actions', (grant) => revokeLink(tenantId, grant), 'actions'],
        ]);
  return section('kind', 'Grants', [
    html`<p class="hint">${looked} <a href=${path}>All subjects</a></p>`,
    listing,
    pager(path, kind, call.query.optional('cursor'), nextCursor),
  ]);
}
