// The objects on which a subject holds a relation, by grants and rules: the same listing as in the public API.

import { isIdentifier, isNamespaceName } from '../../../core/tuples.ts';
import type { TenantSession } from '../../../front/front.ts';
import { namespacesOfEmpty } from '../../../front/namespace-warnings.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { hasRules } from '../../../rules/rule-set.ts';
import { namesToAsk } from '../../../rules/rules-text.ts';
import { type Refusal, refuseQuestion } from '../forms.ts';
import {
  type ConsolePage,
  type PageCall,
  type PageDependencies,
  type PageResult,
  pathTo,
  tenantSessionOf,
} from '../page.ts';
import { checkBox, formError, submit, textField } from '../parts/form-parts.ts';
import { tenantFrame } from '../parts/layout.ts';
import { empty, foreign, pager } from '../parts/parts.ts';
import { nameField, refusedName, SUBJECT_REFUSED, subjectField } from '../parts/tuple-form.ts';
import { unknownNamespacesMarkup } from '../parts/warnings.ts';
import { readTenant } from './tenant.ts';

const OBJECTS_PER_PAGE = 100;

interface Asked {
  readonly subject: string;
  readonly relation: string;
  readonly namespace: string;
  readonly direct: boolean;
}

function refusalOf({ subject, relation, namespace }: Asked): Refusal | undefined {
  const wrongName = refusedName(relation);
  const messages = {
    ...(isIdentifier(subject) ? {} : { subject: SUBJECT_REFUSED }),
    ...(wrongName === undefined ? {} : { relation: wrongName }),
    ...(namespace === '' || isNamespaceName(namespace) ? {} : { namespace: 'This is not a valid namespace name.' }),
  };
  return Object.keys(messages).length === 0 ? undefined : { status: 422, messages };
}

async function listing(call: PageCall, session: TenantSession, asked: Asked): Promise<Markup> {
  const { subject, relation, namespace, direct } = asked;
  const cursor = call.query.optional('cursor');
  const query = { subject, relation, namespace: namespace === '' ? undefined : namespace, direct };
  const page = await session.call(CALLS.listObjects, call.context(), { ...query, limit: OBJECTS_PER_PAGE, cursor });
  const parts = ['tenants', session.tenantId, 'objects'];
  const objects =
    page.items.length === 0
      ? empty(
          page.nextCursor === undefined ? 'No objects' : 'Nothing here',
          page.nextCursor !== undefined
            ? 'Many grants of this subject were revoked: continue with the next page.'
            : html`${foreign(subject)} does not hold <strong>${relation}</strong> on any object${namespace === '' ? '' : ' in this namespace'}${direct ? ' by a grant of its own' : ''}.`,
        )
      : html`<ul class="subjects">${page.items.map((object) => {
          const check = pathTo(['tenants', session.tenantId, 'check'], { subject, relation, object });
          return html`<li><a href=${check}>${foreign(object)}</a></li>`;
        })}</ul>`;
  return html`<section aria-labelledby="objects-title">
    <h2 id="objects-title">${foreign(subject)} is <strong>${relation}</strong> of</h2>
    ${objects}
    ${await unknownNamespacesMarkup(call, session, namespacesOfEmpty({ ...query, entity: subject, cursor }, page))}
    ${pager({ parts, query: { subject, relation, namespace, direct: direct ? 'yes' : undefined }, cursor, next: page.nextCursor })}
  </section>`;
}

async function objectsPage(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const tenant = await readTenant(dependencies, call);
  const session = await tenantSessionOf(dependencies.operator, call);
  const ruleSet = await session.call(CALLS.readRules, call.context(), undefined);
  const asked = {
    subject: call.query.text('subject').trim(),
    relation: call.query.text('relation').trim(),
    namespace: call.query.text('namespace').trim(),
    direct: call.query.text('direct') === 'yes',
  };
  const isAsked = call.query.list('relation').length > 0;
  let refusal = isAsked ? refusalOf(asked) : undefined;
  let result: Markup = empty(
    'List the objects of a subject',
    'All objects on which it holds the relation, as the API lists them.',
  );
  if (isAsked) {
    result = undefined;
    try {
      if (refusal === undefined) result = await listing(call, session, asked);
    } catch (error) {
      refusal = refuseQuestion(error);
    }
  }
  const filled = { fields: call.query, refusal };
  const content = html`<search><form method="get" action=${pathTo(['tenants', tenant.tenantId, 'objects'])} class="form-row" novalidate>
      ${subjectField({ required: true }, filled)}
      ${nameField(namesToAsk(ruleSet), filled)}
      ${textField({ name: 'namespace', label: 'Namespace', hint: 'Empty: all.' }, filled)}
      ${hasRules(ruleSet) ? checkBox({ name: 'direct', text: 'Only direct grants', checked: asked.direct }) : undefined}
      ${submit('List objects', 'secondary')}
    </form></search>
    ${formError(filled)}
    ${result}`;
  const status = refusal?.status ?? 200;
  return { kind: 'page', status, title: `Objects of ${tenant.name}`, body: tenantFrame(tenant, 'objects', content) };
}

export function objectPages(dependencies: PageDependencies): readonly ConsolePage[] {
  const run = (call: PageCall): Promise<PageResult> => objectsPage(dependencies, call);
  return [{ method: 'GET', path: '/tenants/:tenantId/objects', name: 'page-objects', access: 'read-only', run }];
}
