// A check with its answer and the grant behind it. Relations are flat: exactly one grant can allow it, that of the same
// tuple.

import type { Grant, Tuple } from '../../../core/tuples.ts';
import type { OperatorTenantSession } from '../../../front/front.ts';
import type { Refusal } from '../forms.ts';
import { html, type Markup } from '../markup.ts';
import {
  type ConsolePage,
  type PageCall,
  type PageDependencies,
  type PageResult,
  pathTo,
  tenantSessionOf,
} from '../page.ts';
import { submit } from '../parts/form-parts.ts';
import { tenantFrame } from '../parts/layout.ts';
import { code, empty, foreign, moment } from '../parts/parts.ts';
import { objectField, readTuple, relationField, subjectField } from '../parts/tuple-form.ts';
import { readTenant } from './tenant.ts';

const GRANTS_PER_READ = 1000;
/** The page does not read through a subject with more grants than this many reads return. */
const READS_MAX = 5;

/** The grant of that tuple; undefined if it is not among the first thousands of its subject. */
async function findGrant(call: PageCall, session: OperatorTenantSession, tuple: Tuple): Promise<Grant | undefined> {
  let cursor: string | undefined;
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    const query = { of: { subject: tuple.subject }, relation: tuple.relation, limit: GRANTS_PER_READ, cursor };
    const page = await session.listGrants(call.context(), query);
    const found = page.items.find(({ object }) => object === tuple.object);
    if (found !== undefined || page.nextCursor === undefined) return found;
    cursor = page.nextCursor;
  }
  return undefined;
}

async function answerMarkup(call: PageCall, session: OperatorTenantSession, tuple: Tuple): Promise<Markup> {
  const { subject, relation, object } = tuple;
  const { authorized, checkedAtMs } = await session.check(call.context(), tuple);
  const grant = authorized ? await findGrant(call, session, tuple) : undefined;
  const grants = pathTo(['tenants', session.tenantId, 'grants'], { subject });
  const why = !authorized
    ? html`<p>No such grant exists. Relations do not imply each other: <a href=${grants}>show the grants of the subject</a>.</p>`
    : grant === undefined
      ? html`<p>Allowed by a grant of exactly this subject, relation and object. The subject has too many grants to look up its ID here.</p>`
      : html`<p>Allowed by the grant ${code(grant.grantId)}, created ${moment(grant.createdAtMs)} UTC. <a href=${grants}>All grants of the subject</a></p>`;
  return html`<section class="answer ${authorized ? 'yes' : 'no'}" role="status" aria-labelledby="answer-title">
    <h2 id="answer-title">${authorized ? 'Authorized' : 'Not authorized'}</h2>
    <p>${foreign(subject)} <strong>${relation}</strong> ${foreign(object)}</p>
    ${why}
    ${session.suspended ? html`<p>The tenant is suspended: its own requests are refused, whatever the result of this check.</p>` : undefined}
    <p class="id">Checked at ${moment(checkedAtMs)} UTC</p>
  </section>`;
}

async function checkPage(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const tenant = await readTenant(dependencies, call);
  const session = await tenantSessionOf(dependencies.operator, call);
  const { query } = call;
  let refusal: Refusal | undefined;
  let answer: Markup = empty(
    'Check an authorization',
    'Does this subject hold this relation on this object? You see the result that the API returns now.',
  );
  if (query.text('relation') !== '') {
    const read = readTuple(query);
    refusal = 'refusal' in read ? read.refusal : undefined;
    answer = 'tuple' in read ? await answerMarkup(call, session, read.tuple) : undefined;
  }
  const filled = { fields: query, refusal };
  const content = html`<form method="get" action=${pathTo(['tenants', tenant.tenantId, 'check'])} class="form-row" novalidate aria-label="Check">
      ${subjectField({ required: true }, filled)}
      ${relationField(filled)}
      ${objectField(filled)}
      ${submit('Check')}
    </form>
    ${answer}`;
  const status = refusal?.status ?? 200;
  return { kind: 'page', status, title: `Check for ${tenant.name}`, body: tenantFrame(tenant, 'check', content) };
}

export function checkPages(dependencies: PageDependencies): readonly ConsolePage[] {
  const run = (call: PageCall): Promise<PageResult> => checkPage(dependencies, call);
  return [{ method: 'GET', path: '/tenants/:tenantId/check', name: 'page-check', run }];
}
