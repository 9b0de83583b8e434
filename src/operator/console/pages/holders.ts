// Who holds one relation on an object, by grants and by what follows from them.

import type { OperatorTenantSession } from '../../../front/front.ts';
import { namespacesOfEmpty } from '../../../front/namespace-warnings.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { parseGroup } from '../../../rules/compiled-rules.ts';
import { hasRules, type RuleSet } from '../../../rules/rule-set.ts';
import { namesToAsk } from '../../../rules/rules-text.ts';
import { type Refusal, refuse, refuseQuestion } from '../forms.ts';
import { type PageCall, pathTo } from '../page.ts';
import { entityLink, holdersPath } from '../parts/entity-links.ts';
import { checkBox, formError, submit } from '../parts/form-parts.ts';
import { empty, foreign, pager } from '../parts/parts.ts';
import { nameField, refusedName } from '../parts/tuple-form.ts';
import { unknownNamespacesMarkup } from '../parts/warnings.ts';

const HOLDERS_PER_PAGE = 100;

interface Asked {
  readonly object: string;
  readonly relation: string;
  readonly direct: boolean;
}

async function listing(
  call: PageCall,
  session: OperatorTenantSession,
  ruleSet: RuleSet,
  { object, relation, direct }: Asked,
): Promise<Markup> {
  const cursor = call.query.optional('cursor');
  const query = { object, relation, namespace: undefined, direct, limit: HOLDERS_PER_PAGE, cursor };
  const page = await session.call(CALLS.listHolders, call.context(), query);
  const check = (subject: string): string =>
    pathTo(['tenants', session.tenantId, 'check'], { subject, relation, object });
  const items = page.items.map((subject) => {
    const isGroup = ruleSet.groups && parseGroup(subject) !== undefined;
    const name = isGroup
      ? html`${entityLink(session.tenantId, subject)} <small>group</small>`
      : html`<a href=${check(subject)}>${foreign(subject)}</a>`;
    return html`<li>${name}</li>`;
  });
  const asked = { object, relation, direct: direct ? 'yes' : undefined };
  return html`${
    items.length === 0
      ? empty(
          page.nextCursor === undefined ? 'Nobody' : 'Nothing here',
          page.nextCursor === undefined
            ? html`No subject holds <strong>${relation}</strong> on this object${direct ? ' by a grant of its own' : ''}.`
            : 'Continue with the next page.',
        )
      : html`<ul class="subjects">${items}</ul>`
  }${await unknownNamespacesMarkup(call, session, namespacesOfEmpty({ ...query, entity: object }, page))}${pager({ parts: ['tenants', session.tenantId, 'grants'], query: asked, cursor, next: page.nextCursor })}`;
}

export interface HoldersSection {
  readonly markup: Markup;
  /** The grants on the object are then not shown. */
  readonly isAsked: boolean;
  readonly refusal: Refusal | undefined;
}

/** The form, and what it asked for, if it did. */
export async function holdersSection(
  call: PageCall,
  session: OperatorTenantSession,
  ruleSet: RuleSet,
  object: string,
): Promise<HoldersSection> {
  const relation = call.query.text('relation').trim();
  const direct = call.query.text('direct') === 'yes';
  const isAsked = call.query.list('relation').length > 0;
  const wrong = isAsked ? refusedName(relation) : undefined;
  let refusal = wrong === undefined ? undefined : refuse('relation', wrong);
  let holders: Markup;
  if (isAsked && refusal === undefined) {
    try {
      holders = await listing(call, session, ruleSet, { object, relation, direct });
    } catch (error) {
      refusal = refuseQuestion(error);
    }
  }
  const filled = { fields: call.query, refusal };
  const markup = html`<section aria-labelledby="holders-title">
    <h2 id="holders-title">Who holds ${isAsked && refusal === undefined ? html`<strong>${relation}</strong> on ${foreign(object)}` : 'a relation on it'}</h2>
    <form method="get" action=${pathTo(['tenants', session.tenantId, 'grants'])} class="form-row" novalidate aria-label="Who holds">
      <input type="hidden" name="object" value=${object} />
      ${nameField(namesToAsk(ruleSet), filled, 'held-relation')}
      ${hasRules(ruleSet) ? checkBox({ name: 'direct', text: 'Only direct grants', checked: direct }) : undefined}
      ${submit('List who holds it', 'secondary')}
    </form>
    ${formError(filled)}${holders}
    ${isAsked ? html`<p><a href=${holdersPath(session.tenantId, { object })}>All grants on the object</a></p>` : undefined}
  </section>`;
  return { markup, isAsked, refusal };
}
