// A check with its answer, and why: the chain of grants that allows it, or what was looked for in vain.

import { type Grant, isRelation } from '../../../core/tuples.ts';
import type { OperatorTenantSession } from '../../../front/front.ts';
import { namespacesDenied } from '../../../front/namespace-warnings.ts';
import { codeSamplesOfChecks } from '../../../http/openapi/code-samples.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { parseGroup } from '../../../rules/compiled-rules.ts';
import type { NamedTuple } from '../../../rules/questions.ts';
import { hasRules, type RuleSet } from '../../../rules/rule-set.ts';
import { describeWanted, namesToAsk, orList, type WantedInWords } from '../../../rules/rules-text.ts';
import { type Refusal, refuseQuestion } from '../forms.ts';
import {
  type ConsolePage,
  type PageCall,
  type PageDependencies,
  type PageResult,
  pathTo,
  tenantSessionOf,
} from '../page.ts';
import { codeSamples, copyCode } from '../parts/copy.ts';
import { entityLink, holdersPath } from '../parts/entity-links.ts';
import { formError, submit } from '../parts/form-parts.ts';
import { tenantFrame } from '../parts/layout.ts';
import { empty, foreign, moment } from '../parts/parts.ts';
import { nameField, objectField, readQuestion, subjectField } from '../parts/tuple-form.ts';
import { unknownNamespacesMarkup } from '../parts/warnings.ts';
import { readTenant } from './tenant.ts';

/** Groups and parents of the object are looked for among this many grants, and this many of each are shown. */
const GRANTS_READ = 200;
const ENTITIES_SHOWN_MAX = 5;

const checkPath = (tenantId: string, question: NamedTuple): string =>
  pathTo(['tenants', tenantId, 'check'], { ...question });

function grantStep(session: OperatorTenantSession, { subject, relation, object, grantId, createdAtMs }: Grant): Markup {
  return html`<li>
    ${entityLink(session.tenantId, subject)} <strong>${relation}</strong>${' '}
    <a href=${holdersPath(session.tenantId, { object })}>${foreign(object)}</a>
    <small>grant ${copyCode(grantId)}, created ${moment(createdAtMs)} UTC</small>
  </li>`;
}

function whyMarkup(session: OperatorTenantSession, question: NamedTuple, because: readonly Grant[]): Markup {
  const { subject, relation, object } = question;
  const grants = pathTo(['tenants', session.tenantId, 'grants'], { subject });
  const [first] = because;
  if (first === undefined) {
    return html`<p>The subject is the group of those who hold ${relation} on the object.</p>`;
  }
  if (because.length === 1 && first.subject === subject && first.relation === relation && first.object === object) {
    return html`<p>Allowed by the grant ${copyCode(first.grantId)}, created ${moment(first.createdAtMs)} UTC. <a href=${grants}>All grants of the subject</a></p>`;
  }
  const rules = html`<a href=${pathTo(['tenants', session.tenantId, 'rules'])}>rules</a>`;
  return html`<p>Allowed by ${because.length === 1 ? 'this grant' : 'this chain of grants'} and the ${rules}:</p>
    <ol class="chain">${because.map((grant) => grantStep(session, grant))}</ol>
    <p><a href=${grants}>All grants of the subject</a></p>`;
}

/** At most a few, with a word on the rest. */
function someOf(texts: readonly Markup[], more: boolean): Markup {
  const shown = texts.slice(0, ENTITIES_SHOWN_MAX);
  const rest = more || texts.length > shown.length ? html`<li>and others</li>` : undefined;
  return html`<ul>${shown.map((text) => html`<li>${text}</li>`)}${rest}</ul>`;
}

/** Where else it was looked for: each a link to the check of that. */
async function lookedAt(
  call: PageCall,
  session: OperatorTenantSession,
  question: NamedTuple,
  wanted: WantedInWords,
  groups: boolean,
): Promise<Markup> {
  const { subject, object } = question;
  const query = { of: { object }, relation: undefined, limit: GRANTS_READ, cursor: undefined };
  const { items, nextCursor } = await session.call(CALLS.listGrants, call.context(), query);
  const more = nextCursor !== undefined;
  const link = (relation: string, entity: string): Markup =>
    html`<a href=${checkPath(session.tenantId, { subject, relation, object: entity })}>${relation} of ${foreign(entity)}</a>`;
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
            ? 'none among the first grants.'
            : 'it has none.'
      }</li>`;
  });
  return [
    members.length === 0
      ? undefined
      : html`<li>a group with such a grant, of which the subject would be one: ${someOf(members, more)}</li>`,
    inherited,
  ];
}

async function whyNotMarkup(
  call: PageCall,
  session: OperatorTenantSession,
  question: NamedTuple,
  ruleSet: RuleSet,
): Promise<Markup> {
  const grants = html`<a href=${pathTo(['tenants', session.tenantId, 'grants'], { subject: question.subject })}>Grants of the subject</a>`;
  const wanted = describeWanted(ruleSet, question.relation, question.object);
  if (!hasRules(ruleSet) || wanted === undefined) {
    return html`<p>No such grant exists, and the tenant has no rules from which it could follow. ${grants}</p>`;
  }
  const { names, relations } = wanted;
  const derived = names.slice(1).filter((name) => !isRelation(name));
  return html`<p>No chain of grants leads there. What would suffice:</p>
    <ul class="wanted">
      ${relations.length === 0 ? undefined : html`<li>a grant of ${orList(relations)} on the object, to the subject${ruleSet.public.length > 0 ? ', or to everybody of a public namespace' : ''}</li>`}
      ${derived.length === 0 ? undefined : html`<li>the derived name ${orList(derived)} on the object</li>`}
      ${await lookedAt(call, session, question, wanted, ruleSet.groups)}
    </ul>
    <p>${grants} · <a href=${holdersPath(session.tenantId, { object: question.object })}>Grants on the object</a></p>`;
}

async function answerMarkup(
  call: PageCall,
  session: OperatorTenantSession,
  question: NamedTuple,
  ruleSet: RuleSet,
): Promise<Markup> {
  const { subject, relation, object } = question;
  const { authorized, because, checkedAtMs } = await session.explain(call.context(), question);
  const why = authorized ? whyMarkup(session, question, because) : await whyNotMarkup(call, session, question, ruleSet);
  return html`<section class="answer ${authorized ? 'yes' : 'no'}" role="status" aria-labelledby="answer-title">
    <h2 id="answer-title">${authorized ? 'Authorized' : 'Not authorized'}</h2>
    <p>${foreign(subject)} <strong>${relation}</strong> ${foreign(object)}</p>
    ${why}
    ${await unknownNamespacesMarkup(call, session, namespacesDenied([question], [authorized]))}
    ${session.suspended ? html`<p>The tenant is suspended: its own requests are refused, whatever the result of this check.</p>` : undefined}
    <p class="id">Checked at ${moment(checkedAtMs)} UTC</p>
  </section>
  ${codeSamples('This check as code', codeSamplesOfChecks(question))}`;
}

async function checkPage(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const tenant = await readTenant(dependencies, call);
  const session = await tenantSessionOf(dependencies.operator, call);
  const ruleSet = await session.call(CALLS.readRules, call.context(), undefined);
  const { query } = call;
  let refusal: Refusal | undefined;
  let answer: Markup = empty(
    'Check an authorization',
    'Does this subject hold this relation on this object? You see the result that the API returns now.',
  );
  if (query.list('relation').length > 0) {
    answer = undefined;
    const read = readQuestion(query);
    if ('refusal' in read) refusal = read.refusal;
    else {
      try {
        answer = await answerMarkup(call, session, read.question, ruleSet);
      } catch (error) {
        refusal = refuseQuestion(error);
      }
    }
  }
  const filled = { fields: query, refusal };
  const content = html`<form method="get" action=${pathTo(['tenants', tenant.tenantId, 'check'])} class="form-row" novalidate aria-label="Check">
      ${subjectField({ required: true }, filled)}
      ${nameField(namesToAsk(ruleSet), filled)}
      ${objectField(filled)}
      ${submit('Check')}
    </form>
    ${formError(filled)}${answer}
    <p><a href=${pathTo(['tenants', tenant.tenantId, 'check', 'many'])}>Check many at once</a></p>`;
  const status = refusal?.status ?? 200;
  return { kind: 'page', status, title: `Check for ${tenant.name}`, body: tenantFrame(tenant, 'check', content) };
}

export function checkPages(dependencies: PageDependencies): readonly ConsolePage[] {
  const run = (call: PageCall): Promise<PageResult> => checkPage(dependencies, call);
  return [{ method: 'GET', path: '/tenants/:tenantId/check', name: 'page-check', access: 'read-only', run }];
}
