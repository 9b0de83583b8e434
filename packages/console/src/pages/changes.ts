// The changes of a tenant as they come: the change feed, newest on top. The page polls every two seconds with the
// cursor of the last response, so that no change is missing, however long it paused. Invariants: a response holds a
// bounded number of changes; the page says so if changes are missing because they are no longer kept.

import { FEED_ACTIONS, type FeedChange, type FeedContent, type FeedFilter } from '../../../../src/core/change-feed.ts';
import { GrantdError } from '../../../../src/core/errors.ts';
import { MS_PER_MINUTE } from '../../../../src/core/text/timestamps.ts';
import { isRelationName } from '../../../../src/core/tuples.ts';
import type { ChangesPage, FeedStart } from '../../../../src/front/changes.ts';
import type { OperatorTenantSession } from '../../../../src/front/front.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import type { RuleSet } from '../../../../src/rules/rule-set.ts';
import { grantedNames } from '../../../../src/rules/rule-set.ts';
import { summaryOfChange } from '../../../../src/rules/rules-diff.ts';
import {
  openTenant,
  type PageCall,
  type PageResult,
  readRuleSet,
  tenantPath,
  tenantSessionOf,
  withQuery,
} from '../page.ts';
import { choicesOf, type FormContent, queryForm, selectField, submit, textField } from '../parts/form-parts.ts';
import { refuseTyped } from '../parts/grant-form.ts';
import { tenantPage } from '../parts/layout.ts';
import {
  actionBadge,
  buttonLink,
  code,
  copyId,
  expiry,
  foreign,
  moment,
  refreshing,
  section,
  staleWarning,
  termsMarkup,
  termTexts,
  timeOfDay,
  tupleMarkup,
} from '../parts/parts.ts';

/** Changes of one response: a few tens of kilobytes. */
const CHANGES_PER_READ = 100;
/** Maximum changes on the page; the oldest are removed. */
const CHANGES_SHOWN_MAX = 500;
const REFRESH_MS = 2000;

const STARTS: Readonly<Record<string, { readonly text: string; readonly minutes: number }>> = {
  now: { text: 'now', minutes: 0 },
  minutes: { text: '5 minutes ago', minutes: 5 },
  hour: { text: 'an hour ago', minutes: 60 },
  day: { text: 'a day ago', minutes: 24 * 60 },
};
const START_FIRST = 'now';

interface FeedQuery {
  readonly from: string;
  readonly namespace: string;
  readonly relation: string;
  readonly action: string;
}

function askedOf({ query }: PageCall): FeedQuery {
  const from = query.text('from');
  return {
    from: Object.hasOwn(STARTS, from) ? from : START_FIRST,
    namespace: query.typed('namespace'),
    relation: isRelationName(query.text('relation')) ? query.text('relation') : '',
    action: FEED_ACTIONS.find((each) => each === query.text('action')) ?? '',
  };
}

function filterOf({ namespace, relation, action }: FeedQuery): FeedFilter {
  const actions = FEED_ACTIONS.filter((each) => each === action);
  return {
    namespaces: namespace === '' ? undefined : [namespace],
    relations: relation === '' ? undefined : [relation],
    actions: actions.length === 0 ? undefined : actions,
  };
}

interface FeedPage {
  readonly page: ChangesPage;
  /** Why changes are missing before those of the page. */
  readonly gap: string | undefined;
}

/** Continues at the cursor, if any. Starts at the earliest change that is kept if the requested start is not. */
async function readChanges(call: PageCall, session: OperatorTenantSession, asked: FeedQuery): Promise<FeedPage> {
  const cursor = call.query.optional('cursor');
  const minutes = STARTS[asked.from]?.minutes ?? 0;
  const since = minutes === 0 ? 'now' : call.clock.wallMs() - minutes * MS_PER_MINUTE;
  const read = (start: FeedStart): Promise<ChangesPage> => {
    const query = { ...start, filter: filterOf(asked), limit: CHANGES_PER_READ, waitMs: 0 };
    return session.readChanges(call.context(), query);
  };
  try {
    return { page: await read(cursor === undefined ? { since } : { cursor }), gap: undefined };
  } catch (error) {
    if (!(error instanceof GrantdError) || error.code !== 'cursor-too-old') throw error;
    const { earliest } = error.details;
    if (typeof earliest !== 'string') throw error;
    return { page: await read({ cursor: earliest }), gap: error.message };
  }
}

/** The name of an operator, or the ID of a key. */
function actorText(actor: string): Markup {
  const name = /^operator:(.*)$/su.exec(actor)?.[1];
  return name === undefined ? code(actor) : html`operator ${foreign(name)}`;
}

function contentMarkup(tenantId: string, change: FeedContent, nowMs: number): Markup {
  switch (change.action) {
    case 'namespace.created':
      return code(change.name);
    case 'rules.updated':
      return html`<a href=${tenantPath(tenantId, 'rules')}>rules</a> ${change.texts && summaryOfChange(JSON.parse(change.texts.former), JSON.parse(change.texts.rules))}`;
    default: {
      const terms = termTexts(change.grant, (endMs) => expiry(endMs, nowMs));
      const { formerTerms } = change;
      return html`${tupleMarkup(tenantId, change.grant, false)}${terms.map((each) => html` <small>${each}</small>`)}${formerTerms === undefined ? undefined : html` <small>(before: ${termsMarkup(formerTerms)})</small>`}`;
    }
  }
}

function changeItem(tenantId: string, { atMs, actor, requestId, change }: FeedChange, nowMs: number): Markup {
  const log = tenantPath(tenantId, 'audit-log', { request_id: requestId });
  return html`<li>
    ${moment(atMs)} ${actionBadge(change.action)} ${contentMarkup(tenantId, change, nowMs)}
    <small>${actorText(actor)} · ${copyId(requestId, html`<a href=${log}>${code(requestId)}</a>`)}</small>
  </li>`;
}

/** The item that requests the next changes: the response replaces it by another such item, followed by the changes. */
function itemsMarkup(
  tenantId: string,
  { from: _, ...filter }: FeedQuery,
  { page, gap }: FeedPage,
  nowMs: number,
): Markup {
  const path = tenantPath(tenantId, 'changes/live', { ...filter, cursor: page.cursor });
  const next = refreshing(path, REFRESH_MS, 'outerHTML', page.atEnd ? '' : 'load delay:100ms, ');
  return html`<li id="changes-next" class="changes-next" ...${next}>
      <small>${page.atEnd ? html`Nothing newer at ${timeOfDay(page.atMs)}.` : 'Reading what came since …'}</small>
    </li>
    ${page.changes.toReversed().map((change) => changeItem(tenantId, change, nowMs))}
    ${
      gap &&
      html`<li class="gap" role="status"><strong>Changes are missing here.</strong> ${gap} The${' '}
      <a href=${tenantPath(tenantId, 'audit-log')}>audit log</a> has them.</li>`
    }`;
}

function filterForm(path: string, ruleSet: RuleSet, asked: FeedQuery, filled: FormContent): Markup {
  const relations = new Set([...grantedNames(ruleSet), ...(asked.relation === '' ? [] : [asked.relation])]);
  const starts = Object.entries(STARTS).map(([value, { text }]) => ({ value, text }));
  const fields = html`
    ${selectField({ name: 'from', label: 'From', choices: starts, value: asked.from })}
    ${selectField({ name: 'action', label: 'Action', choices: choicesOf('all', FEED_ACTIONS), value: asked.action })}
    ${textField({ name: 'namespace', label: 'Namespace of the object', hint: 'Empty: all.' }, filled)}
    ${selectField({ name: 'relation', label: 'Relation', choices: choicesOf('all', [...relations]), value: asked.relation })}
    ${submit('Show', 'secondary')}`;
  return html`<search>${queryForm(path, fields)}</search>`;
}

async function listMarkup(call: PageCall, path: string, asked: FeedQuery): Promise<Markup> {
  const session = await tenantSessionOf(call);
  const { tenantId } = session;
  const read = await readChanges(call, session, asked);
  const further = withQuery(path, { ...asked, cursor: read.page.cursor });
  return html`${staleWarning('The changes could not be read. They go on from the same place as soon as they can: nothing is left out. The list is')}
    <p class="buttons">
      <button type="button" class="secondary with-script" data-pause="changes" aria-pressed="false">Pause</button>
      ${buttonLink(further, 'Show what came since', 'secondary outline without-script')}
      <span class="hint">The newest ${CHANGES_SHOWN_MAX} stay on this page. What came before is in the${' '}
        <a href=${tenantPath(tenantId, 'audit-log')}>audit log</a>.</span>
    </p>
    <ol class="changes" id="changes" data-items-max=${String(CHANGES_SHOWN_MAX)}>${itemsMarkup(tenantId, asked, read, call.clock.wallMs())}</ol>`;
}

export async function changesPage(call: PageCall): Promise<PageResult> {
  const { tenant, session } = await openTenant(call);
  const { tenantId } = tenant;
  const ruleSet = await readRuleSet(call, session);
  const asked = askedOf(call);
  const refusal = refuseTyped({ namespace: asked.namespace });
  const path = tenantPath(tenantId, 'changes');
  const content = html`
    ${filterForm(path, ruleSet, asked, { fields: call.query, refusal })}
    ${refusal === undefined ? await listMarkup(call, path, asked) : undefined}
    <p><small>On the command line: <code>grantd changes --tenant ${tenantId} --follow</code></small></p>`;
  const shown = section('changes', 'Changes as they come', content);
  return tenantPage(tenant, 'changes', `Changes of ${tenant.name}`, shown, refusal);
}

export async function liveChanges(call: PageCall): Promise<PageResult> {
  const asked = askedOf(call);
  const session = await tenantSessionOf(call);
  const read = await readChanges(call, session, asked);
  return { kind: 'part', body: itemsMarkup(session.tenantId, asked, read, call.clock.wallMs()) };
}
