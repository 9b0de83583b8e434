// A check with its result and the reason: the chain of grants that allows it, or the grants that would have.

import { hasContext } from '../../../../src/core/call-context.ts';
import { grantRecord } from '../../../../src/core/grant-attributes.ts';
import type { Grant } from '../../../../src/core/tuples.ts';
import type { OperatorTenantSession } from '../../../../src/front/front.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { parseGroup } from '../../../../src/rules/compiled-rules.ts';
import type { NamedTuple } from '../../../../src/rules/questions.ts';
import { hasRules, type RuleSet } from '../../../../src/rules/rule-set.ts';
import { describeWanted, namesToAsk, orList, type WantedInWords } from '../../../../src/rules/rules-text.ts';
import { answerQuestion, type Fields, joinRefusals, type Outcome, type Refusal } from '../forms.ts';
import { openTenant, type PageCall, type PageResult, type Query, readRuleSet, tenantPath } from '../page.ts';
import { samplesMarkup } from '../parts/check-samples.ts';
import {
  askQuestion,
  checkLinkTo,
  contextFields,
  questionForm,
  type ReadContext,
  readContext,
} from '../parts/context-fields.ts';
import { formError, submit } from '../parts/form-parts.ts';
import { nameField, objectField, readQuestion, subjectField } from '../parts/grant-form.ts';
import { tenantPage } from '../parts/layout.ts';
import { copyCode, empty, foreign, moment, warningsMarkup } from '../parts/parts.ts';
import { chainMarkup, proofTree, reasonMarkup } from '../parts/proof-tree.ts';

/** A check with what it brings along. */
interface CheckQuestion extends ReadContext {
  readonly question: NamedTuple;
}

/** Maximum grants searched for groups and parents of the object, and maximum shown of each. */
const GRANTS_READ = 200;
const ENTITIES_SHOWN_MAX = 5;

function whyMarkup(tenantId: string, question: NamedTuple, because: readonly Grant[]): Markup {
  const { subject, relation, object } = question;
  const grants = html`<a href=${tenantPath(tenantId, 'grants', { subject })}>All grants of the subject</a>`;
  const [first] = because;
  if (first === undefined) {
    return html`<p>The subject is the group of those who hold ${relation} on the object.</p>`;
  }
  if (because.length === 1 && first.subject === subject && first.relation === relation && first.object === object) {
    return html`<p>Allowed by the grant ${copyCode(first.grantId)}, created ${moment(first.createdAtMs)}. ${grants}</p>`;
  }
  const rules = html`<a href=${tenantPath(tenantId, 'rules')}>rules</a>`;
  return html`<p>Allowed by ${because.length === 1 ? 'this grant' : 'this chain of grants'} and the ${rules}:</p>
    ${chainMarkup(because.map(grantRecord), tenantId)}
    <p>${grants}</p>`;
}

/** The first few, and whether there are more. */
function someOf(texts: readonly Markup[], more: boolean): Markup {
  const shown = texts.slice(0, ENTITIES_SHOWN_MAX);
  const rest = more || texts.length > shown.length ? html`<li>and others</li>` : undefined;
  return html`<ul>${shown.map((text) => html`<li>${text}</li>`)}${rest}</ul>`;
}

/** Groups and parents that could lead to the object, each with a link to the check on it. */
async function lookedAt(
  call: PageCall,
  session: OperatorTenantSession,
  { question, typed }: CheckQuestion,
  wanted: WantedInWords,
  groups: boolean,
): Promise<Markup> {
  const { subject, object } = question;
  const query = { of: { object }, relation: undefined, limit: GRANTS_READ, cursor: undefined };
  const { items, nextCursor } = await session.call('listGrants', call.context(), query);
  const more = nextCursor !== undefined;
  const link = (relation: string, entity: string): Markup =>
    html`<a href=${checkLinkTo(session.tenantId, { subject, relation, object: entity }, typed)}>${relation} of ${foreign(entity)}</a>`;
  const members = items.flatMap(({ subject: holder, relation }) => {
    const group = groups && wanted.relations.includes(relation) ? parseGroup(holder) : undefined;
    return group === undefined ? [] : [link(group.name, group.object)];
  });
  const inherited = wanted.parents.map(({ relation, names }) => {
    const parents = items.filter((grant) => grant.relation === relation).map((grant) => grant.subject);
    const entities = parents.filter((parent) => !groups || parseGroup(parent) === undefined);
    const [name = ''] = names;
    return html`<li>${orList(names)} on an entity that is <strong>${relation}</strong> of the object:${' '}
      ${
        entities.length > 0
          ? someOf(
              entities.map((entity) => link(name, entity)),
              more,
            )
          : more
            ? 'the first grants read name no such entity.'
            : 'no grant names one.'
      }</li>`;
  });
  return [
    members.length === 0
      ? undefined
      : html`<li>membership in a group that has such a grant: ${someOf(members, more)}</li>`,
    inherited,
  ];
}

async function whyNotMarkup(
  call: PageCall,
  session: OperatorTenantSession,
  asked: CheckQuestion,
  ruleSet: RuleSet,
): Promise<Markup> {
  const { question } = asked;
  const grantsLink = (query: Query, text: string): Markup =>
    html`<a href=${tenantPath(session.tenantId, 'grants', query)}>${text}</a>`;
  const grants = grantsLink({ subject: question.subject }, 'Grants of the subject');
  const wanted = describeWanted(ruleSet, question.relation, question.object);
  if (!hasRules(ruleSet) || wanted === undefined) {
    return html`<p>No such grant exists, and the tenant has no rules from which it could follow. ${grants}</p>`;
  }
  const { names, relations } = wanted;
  const derived = names.slice(1).filter((name) => !relations.some((relation) => relation === name));
  return html`<p>No chain of grants leads there. What would suffice:</p>
    <ul class="wanted">
      ${relations.length === 0 ? undefined : html`<li>a grant of ${orList(relations)} on the object, to the subject${ruleSet.public.length > 0 ? ', or to every subject of a public namespace' : ''}</li>`}
      ${derived.length === 0 ? undefined : html`<li>the derived name ${orList(derived)} on the object</li>`}
      ${wanted.gates.map((gate) => html`<li>${gate} on the object</li>`)}
      ${await lookedAt(call, session, asked, wanted, ruleSet.groups)}
    </ul>
    <p>${grants} · ${grantsLink({ object: question.object }, 'Grants on the object')}</p>`;
}

async function answerMarkup(
  call: PageCall,
  session: OperatorTenantSession,
  asked: CheckQuestion,
  ruleSet: RuleSet,
): Promise<Markup> {
  const { tenantId } = session;
  const { question, call: brought, members, typed } = asked;
  const { subject, relation, object } = question;
  const context = call.context();
  const answer = await session.explain(context, { ...question, ...brought });
  const { authorized, because, proof, reason, checkedAtMs } = answer;
  const check = (name: string, on: string): string | undefined =>
    name === relation && on === object
      ? undefined
      : checkLinkTo(tenantId, { subject, relation: name, object: on }, typed);
  const all =
    proof !== ''
      ? html`${proofTree(proof, { tenantId, check })}
          <p><a href=${tenantPath(tenantId, 'grants', { subject })}>Grants of the subject</a> ·${' '}
            <a href=${tenantPath(tenantId, 'grants', { object })}>Grants on the object</a></p>`
      : authorized
        ? whyMarkup(tenantId, question, because)
        : await whyNotMarkup(call, session, asked, ruleSet);
  const why =
    reason === ''
      ? all
      : html`${reasonMarkup(reason, tenantId)}
          <details class="optional"><summary>All that was looked at</summary>${all}</details>`;
  return html`<section class="answer ${authorized ? 'yes' : 'no'}" role="status" aria-labelledby="answer-title">
    <h2 id="answer-title">${authorized ? 'Authorized' : 'Not authorized'}</h2>
    <p>${foreign(subject)} <strong>${relation}</strong> ${foreign(object)}${hasContext(brought) && ', with a context'}</p>
    ${why}
    ${warningsMarkup(context)}
    ${session.suspended ? html`<p>The tenant is suspended: its own requests are refused, whatever the result of this check.</p>` : undefined}
    <p class="id">Checked at ${moment(checkedAtMs)}</p>
  </section>
  ${samplesMarkup('This check as code', question, members)}`;
}

function readAsked(fields: Fields): { readonly asked: CheckQuestion } | { readonly refusal: Refusal } {
  const [question, context] = [readQuestion(fields), readContext(fields)];
  if ('question' in question && 'call' in context) return { asked: { ...question, ...context } };
  return joinRefusals(question, context);
}

export async function checkPage(call: PageCall): Promise<PageResult> {
  const { tenant, session } = await openTenant(call);
  const ruleSet = await readRuleSet(call, session);
  const fields = call.query;
  const introduction = empty(
    'Check an authorization',
    'Does this subject hold this relation on this object? The answer is the one that the API gives now, with its reason.',
  );
  const read = fields.list('relation').length > 0 ? readAsked(fields) : { answer: introduction };
  const { answer, refusal }: Outcome<Markup> =
    'asked' in read ? await answerQuestion(() => answerMarkup(call, session, read.asked, ruleSet)) : read;
  const filled = { fields, refusal };
  const form = [
    subjectField({ required: true }, filled),
    nameField(namesToAsk(ruleSet), filled),
    objectField(filled),
    contextFields(filled),
    submit('Check'),
  ];
  const content = html`${questionForm(call.session, tenantPath(tenant.tenantId, 'check'), form, 'Check')}
    ${formError(filled)}${answer}
    <p><a href=${tenantPath(tenant.tenantId, 'check/many')}>Check many at once</a></p>`;
  return tenantPage(tenant, 'check', `Check for ${tenant.name}`, content, refusal);
}

export const askCheck = askQuestion('check', ['subject', 'object'], checkPage);
