// The listings that follow groups and rules, as in the public API: the objects on which a subject holds a relation, and
// the subjects that hold one on an object.

import type { CallContext } from '../../../../src/core/call-context.ts';
import type { OperatorTenantSession, TenantSession } from '../../../../src/front/front.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { parseGroup } from '../../../../src/rules/compiled-rules.ts';
import { hasRules, type RuleSet } from '../../../../src/rules/rule-set.ts';
import { namesToAsk } from '../../../../src/rules/rules-text.ts';
import type { ResultPage } from '../../../../src/shard/shard.ts';
import { answerQuestion, joinRefusals, type Outcome, type Refusal, refuse } from '../forms.ts';
import { openTenant, type PageCall, type PageResult, type Query, readRuleSet, tenantPath } from '../page.ts';
import {
  askQuestion,
  checkLinkTo,
  contextFields,
  linkTo,
  questionForm,
  readContext,
  type TypedContext,
  typedContext,
} from '../parts/context-fields.ts';
import { checkBox, formError, hidden, submit, textField } from '../parts/form-parts.ts';
import { nameField, refuseTyped, subjectField } from '../parts/grant-form.ts';
import { tenantPage } from '../parts/layout.ts';
import { empty, entityLink, foreign, pager, section, warningsMarkup } from '../parts/parts.ts';

const ROWS_PER_PAGE = 100;

/** The question in the query of a page. */
interface ListingQuestion {
  readonly isAsked: boolean;
  readonly relation: string;
  readonly direct: boolean;
  readonly context: ReturnType<typeof readContext>;
  readonly typed: TypedContext;
  /** Cursor and page size of the call that answers it. */
  readonly paging: { readonly direct: boolean; readonly limit: number; readonly cursor: string | undefined };
}

function askedOf({ query }: PageCall): ListingQuestion {
  const direct = query.text('direct') === 'yes';
  return {
    isAsked: query.list('relation').length > 0,
    relation: query.typed('relation'),
    direct,
    context: readContext(query),
    typed: typedContext(query),
    paging: { direct, limit: ROWS_PER_PAGE, cursor: query.optional('cursor') },
  };
}

/** Pages of a listing are links, so its context has to fit into one. */
const CONTEXT_TOO_LONG = 'This context is too long for a link to the next page. Use the API, or a shorter one.';

/** `link`: of the question, if there is room for it. */
async function answerIf(
  { isAsked, context }: ListingQuestion,
  refused: Refusal | undefined,
  link: string | undefined,
  answer: (context: CallContext) => Promise<Markup>,
): Promise<Outcome<Markup>> {
  if (!isAsked) return {};
  if (refused !== undefined || 'refusal' in context) return joinRefusals({ refusal: refused }, context);
  if (link === undefined) return { refusal: refuse('context', CONTEXT_TOO_LONG) };
  return answerQuestion(() => answer(context.call));
}

const directBox = (ruleSet: RuleSet, { direct }: ListingQuestion): Markup =>
  hasRules(ruleSet) && checkBox({ name: 'direct', text: 'Only direct grants', checked: direct });

/** `none`: what it means that there is nothing. */
function listMarkup(
  { items, nextCursor }: ResultPage<string>,
  item: (text: string) => Markup,
  none: { readonly title: string; readonly text: Markup; readonly soFar: string },
): Markup {
  if (items.length > 0) return html`<ul class="subjects">${items.map((text) => html`<li>${item(text)}</li>`)}</ul>`;
  return nextCursor === undefined ? empty(none.title, none.text) : empty('Nothing on this page', none.soFar);
}

const linksBelow = (
  session: TenantSession,
  path: string,
  query: Query,
  { direct, typed, paging: { cursor } }: ListingQuestion,
  { nextCursor }: ResultPage<string>,
): Markup => {
  const asked = { ...query, ...typed, direct: direct ? 'yes' : undefined };
  return pager(tenantPath(session.tenantId, path), asked, cursor, nextCursor);
};

const checkLink = (session: TenantSession, question: Query, shown: string, { typed }: ListingQuestion): Markup =>
  html`<a href=${checkLinkTo(session.tenantId, question, typed)}>${foreign(shown)}</a>`;

/** The subjects for whom an `ns:*` of the page is not true. */
const excludedMarkup = (excluded: readonly string[] = [], item: (text: string) => Markup): Markup =>
  excluded.length > 0 &&
  html`<p class="warning">“*” stands for everyone of its namespace, except the following. Other pages may list more exceptions:</p>
    <ul class="subjects excluded">${excluded.map((text) => html`<li>${item(text)}</li>`)}</ul>`;

export async function objectsPage(call: PageCall): Promise<PageResult> {
  const { tenant, session } = await openTenant(call);
  const ruleSet = await readRuleSet(call, session);
  const asked = askedOf(call);
  const { relation, direct, paging } = asked;
  const [subject, namespace] = [call.query.typed('subject'), call.query.typed('namespace')];
  const refused = refuseTyped({ subject, name: relation, namespace });
  const link = linkTo(tenant.tenantId, 'objects', { subject, relation, namespace, ...asked.typed });
  const { answer, refusal } = await answerIf(asked, refused, link, async (context) => {
    const query = { subject, relation, namespace: namespace === '' ? undefined : namespace, ...paging, ...context };
    const request = call.context();
    const page = await session.call('listObjects', request, query);
    const list = listMarkup(page, (object) => checkLink(session, { subject, relation, object }, object, asked), {
      title: 'No objects',
      text: html`${foreign(subject)} does not hold <strong>${relation}</strong> on any object${namespace === '' ? '' : ' in this namespace'}${direct ? ' by a grant of its own' : ''}.`,
      soFar: 'Its grants were revoked: continue with the next page.',
    });
    const links = linksBelow(session, 'objects', { subject, relation, namespace }, asked, page);
    return section('objects', html`Objects on which ${foreign(subject)} holds <strong>${relation}</strong>`, [
      list,
      warningsMarkup(request),
      links,
    ]);
  });
  const filled = { fields: call.query, refusal };
  const fields = html`${subjectField({ required: true }, filled)}
    ${nameField(namesToAsk(ruleSet), filled)}
    ${textField({ name: 'namespace', label: 'Namespace', hint: 'Empty: all.' }, filled)}
    ${directBox(ruleSet, asked)}
    ${contextFields(filled, 'this listing')}
    ${submit('List objects', 'secondary')}`;
  const introduction = empty(
    'List the objects of a subject',
    'Every object on which the subject holds the relation, as the API lists them.',
  );
  const content = html`<search>${questionForm(call.session, tenantPath(tenant.tenantId, 'objects'), fields, 'Objects')}</search>
    ${formError(filled)}
    ${asked.isAsked ? answer : introduction}`;
  return tenantPage(tenant, 'objects', `Objects of ${tenant.name}`, content, refusal);
}

export const askObjects = askQuestion('objects', ['subject', 'namespace', 'direct'], objectsPage);

export interface HoldersSection {
  readonly markup: Markup;
  /** If true, the page does not list the grants on the object. */
  readonly isAsked: boolean;
  readonly refusal: Refusal | undefined;
}

/** The form that lists who holds one relation on the object, and its result. */
export async function holdersSection(
  call: PageCall,
  session: OperatorTenantSession,
  ruleSet: RuleSet,
  object: string,
): Promise<HoldersSection> {
  const asked = askedOf(call);
  const { isAsked, relation, direct, paging } = asked;
  const link = linkTo(session.tenantId, 'grants', { object, relation, ...asked.typed });
  const { answer, refusal } = await answerIf(asked, refuseTyped({ name: relation }), link, async (context) => {
    const query = { object, relation, namespace: undefined, ...paging, ...context };
    const request = call.context();
    const page = await session.call('listHolders', request, query);
    const item = (subject: string): Markup =>
      ruleSet.groups && parseGroup(subject) !== undefined
        ? html`${entityLink(session.tenantId, subject)} <small>group</small>`
        : checkLink(session, { subject, relation, object }, subject, asked);
    const list = listMarkup(page, item, {
      title: 'Nobody holds it',
      text: html`No subject holds <strong>${relation}</strong> on this object${direct ? ' by a grant of its own' : ''}.`,
      soFar: 'Continue with the next page.',
    });
    const excluded = excludedMarkup(page.excluded, item);
    return [list, excluded, warningsMarkup(request), linksBelow(session, 'grants', { object, relation }, asked, page)];
  });
  const filled = { fields: call.query, refusal };
  const path = tenantPath(session.tenantId, 'grants/holders');
  const fields = html`${hidden({ object })}
    ${nameField(namesToAsk(ruleSet), filled, 'held-relation')}
    ${directBox(ruleSet, asked)}
    ${contextFields(filled, 'this listing')}
    ${submit('List who holds it', 'secondary')}`;
  const holds =
    isAsked && refusal === undefined ? html`<strong>${relation}</strong> on ${foreign(object)}` : 'a relation on it';
  const content = html`${questionForm(call.session, path, fields, 'Who holds')}${formError(filled)}${answer}
    ${isAsked && html`<p><a href=${tenantPath(session.tenantId, 'grants', { object })}>All grants on the object</a></p>`}`;
  return { markup: section('holders', html`Who holds ${holds}`, content), isAsked, refusal };
}
