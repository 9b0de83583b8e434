// The changes of a tenant as they come: the change feed, newest on top. The page asks again every two seconds with the
// cursor of the last answer, so that nothing is missing in between, however long it paused. Invariants: an answer holds
// a bounded number of changes; changes that are no longer kept are never passed over in silence.

import { FEED_ACTIONS, type FeedChange, type FeedContent, type FeedFilter } from '../../../core/change-feed.ts';
import { GrantdError } from '../../../core/errors.ts';
import { MS_PER_MINUTE } from '../../../core/text/timestamps.ts';
import { isNamespaceName, RELATIONS } from '../../../core/tuples.ts';
import type { ChangesPage, FeedStart } from '../../../front/changes.ts';
import type { OperatorTenantSession } from '../../../front/front.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { summaryOfChange } from '../../../rules/rules-diff.ts';
import { type Refusal, refuse } from '../forms.ts';
import {
  type ConsolePage,
  type PageCall,
  type PageDependencies,
  type PageResult,
  pathTo,
  tenantSessionOf,
} from '../page.ts';
import { actionBadge } from '../parts/action-badge.ts';
import { copyId } from '../parts/copy.ts';
import { entityLink, holdersPath } from '../parts/entity-links.ts';
import { expiry as shownExpiry } from '../parts/expiry-form.ts';
import { selectField, submit, textField } from '../parts/form-parts.ts';
import { tenantFrame } from '../parts/layout.ts';
import { clockTime, code, foreign, moment } from '../parts/parts.ts';
import { readTenant } from './tenant.ts';

/** Of one answer: a few tens of kilobytes. */
const CHANGES_PER_READ = 100;
/** The page keeps so many, the newest. */
const CHANGES_SHOWN_MAX = 500;
const REFRESH_MS = 2000;

const STARTS: Readonly<Record<string, { readonly text: string; readonly minutes: number }>> = {
  now: { text: 'now', minutes: 0 },
  minutes: { text: '5 minutes ago', minutes: 5 },
  hour: { text: 'an hour ago', minutes: 60 },
  day: { text: 'a day ago', minutes: 24 * 60 },
};
const START_FIRST = 'now';

interface Asked {
  readonly from: string;
  readonly namespace: string;
  readonly relation: string;
  readonly action: string;
}

function askedOf({ query }: PageCall): Asked {
  const from = query.text('from');
  return {
    from: Object.hasOwn(STARTS, from) ? from : START_FIRST,
    namespace: query.text('namespace').trim(),
    relation: RELATIONS.find((each) => each === query.text('relation')) ?? '',
    action: FEED_ACTIONS.find((each) => each === query.text('action')) ?? '',
  };
}

function filterOf({ namespace, relation, action }: Asked): FeedFilter {
  const actions = FEED_ACTIONS.filter((each) => each === action);
  return {
    namespace: namespace === '' ? undefined : namespace,
    relation: relation === '' ? undefined : relation,
    actions: actions.length === 0 ? undefined : actions,
  };
}

interface Read {
  readonly page: ChangesPage;
  /** Why changes are missing before those of the page. */
  readonly gap: string | undefined;
}

/** From the earliest change that is kept if those of the start are not. */
async function readChanges(
  call: PageCall,
  session: OperatorTenantSession,
  start: FeedStart,
  filter: FeedFilter,
): Promise<Read> {
  const read = (from: FeedStart): Promise<ChangesPage> =>
    session.readChanges(call.context(), { ...from, filter, limit: CHANGES_PER_READ, waitMs: 0 });
  try {
    return { page: await read(start), gap: undefined };
  } catch (error) {
    const earliest =
      error instanceof GrantdError && error.code === 'cursor-too-old' ? error.details.earliest : undefined;
    if (!(error instanceof GrantdError) || typeof earliest !== 'string') throw error;
    return { page: await read({ cursor: earliest }), gap: error.message };
  }
}

/** A key's ID where nothing else is known of it. */
function actorText(actor: string): Markup {
  const name = /^operator:(.*)$/su.exec(actor)?.[1];
  return name === undefined ? code(actor) : html`operator ${foreign(name)}`;
}

function contentMarkup(tenantId: string, change: FeedContent, nowMs: number): Markup {
  switch (change.action) {
    case 'namespace.created':
      return code(change.name);
    case 'rules.updated':
      return html`<a href=${pathTo(['tenants', tenantId, 'rules'])}>rules</a> ${summaryOfChange(JSON.parse(change.former), JSON.parse(change.rules))}`;
    default: {
      const { subject, relation, object, expiresAtMs } = change.grant;
      const end =
        expiresAtMs === undefined ? undefined : html` <small>expires ${shownExpiry(expiresAtMs, nowMs)}</small>`;
      return html`${entityLink(tenantId, subject, false)} <strong>${relation}</strong>${' '}
        <a href=${holdersPath(tenantId, { object })}>${foreign(object)}</a>${end}`;
    }
  }
}

function changeItem(tenantId: string, { atMs, actor, requestId, change }: FeedChange, nowMs: number): Markup {
  const log = pathTo(['tenants', tenantId, 'audit-log'], { request_id: requestId });
  return html`<li>
    ${moment(atMs)} ${actionBadge(change.action)} ${contentMarkup(tenantId, change, nowMs)}
    <small>${actorText(actor)} · ${copyId(requestId, html`<a href=${log}>${code(requestId)}</a>`)}</small>
  </li>`;
}

/** The item that asks for what comes next: the answer replaces it by another one, and the new changes below that. */
function itemsMarkup(tenantId: string, asked: Asked, { page, gap }: Read, nowMs: number): Markup {
  const { from: _, ...filter } = asked;
  const path = pathTo(['tenants', tenantId, 'changes', 'live'], { ...filter, cursor: page.cursor });
  const refresh = `every ${REFRESH_MS / 1000}s, refresh`;
  return html`<li
      id="changes-next" class="changes-next" data-live=${String(REFRESH_MS)} hx-get=${path} hx-swap="outerHTML"
      hx-trigger=${page.atEnd ? refresh : `load delay:100ms, ${refresh}`} hx-status:4xx="swap:none" hx-status:5xx="swap:none"
    >
      <small>${page.atEnd ? `Nothing newer at ${clockTime(page.atMs)} UTC.` : 'Reading what came since …'}</small>
    </li>
    ${page.changes.toReversed().map((change) => changeItem(tenantId, change, nowMs))}
    ${
      gap === undefined
        ? undefined
        : html`<li class="gap" role="status"><strong>Changes are missing here.</strong> ${gap} The${' '}
      <a href=${pathTo(['tenants', tenantId, 'audit-log'])}>audit log</a> has them.</li>`
    }`;
}

function filterForm(tenantId: string, call: PageCall, asked: Asked, refusal: Refusal | undefined): Markup {
  const choices = (values: readonly string[]) => [
    { value: '', text: 'all' },
    ...values.map((value) => ({ value, text: value })),
  ];
  const starts = Object.entries(STARTS).map(([value, { text }]) => ({ value, text }));
  return html`<search><form method="get" action=${pathTo(['tenants', tenantId, 'changes'])} class="form-row" novalidate>
    ${selectField({ name: 'from', label: 'From', choices: starts, value: asked.from })}
    ${selectField({ name: 'action', label: 'Action', choices: choices(FEED_ACTIONS), value: asked.action })}
    ${textField({ name: 'namespace', label: 'Namespace of the object', hint: 'Empty: all.' }, { fields: call.query, refusal })}
    ${selectField({ name: 'relation', label: 'Relation', choices: choices(RELATIONS), value: asked.relation })}
    ${submit('Show', 'secondary')}
  </form></search>`;
}

const refusalOf = ({ namespace }: Asked): Refusal | undefined =>
  namespace === '' || isNamespaceName(namespace)
    ? undefined
    : refuse('namespace', 'This is not a valid namespace name.');

async function changesPage(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const tenant = await readTenant(dependencies, call);
  const { tenantId } = tenant;
  const asked = askedOf(call);
  const refusal = refusalOf(asked);
  const nowMs = dependencies.clock.wallMs();
  let list: Markup;
  if (refusal === undefined) {
    const session = await tenantSessionOf(dependencies.operator, call);
    const cursor = call.query.optional('cursor');
    const minutes = STARTS[asked.from]?.minutes ?? 0;
    const start: FeedStart =
      cursor !== undefined ? { cursor } : { since: minutes === 0 ? 'now' : nowMs - minutes * MS_PER_MINUTE };
    const read = await readChanges(call, session, start, filterOf(asked));
    const further = pathTo(['tenants', tenantId, 'changes'], { ...asked, cursor: read.page.cursor });
    list = html`<p class="warning" data-stale hidden>
        The changes could not be read. They go on from the same place as soon as they can: nothing is left out. The list is${' '}
        <span data-stale-age>out of date</span>.
      </p>
      <p class="buttons">
        <button type="button" class="secondary with-script" data-pause="changes" aria-pressed="false">Pause</button>
        <a class="button secondary outline without-script" href=${further}>Show what came since</a>
        <span class="hint">The newest ${CHANGES_SHOWN_MAX} stay on this page. What came before is in the${' '}
          <a href=${pathTo(['tenants', tenantId, 'audit-log'])}>audit log</a>.</span>
      </p>
      <ol class="changes" id="changes" data-items-max=${String(CHANGES_SHOWN_MAX)}>${itemsMarkup(tenantId, asked, read, nowMs)}</ol>`;
  }
  const content = html`<section aria-labelledby="changes-title">
    <h2 id="changes-title">Changes as they come</h2>
    ${filterForm(tenantId, call, asked, refusal)}
    ${list}
    <p><small>On the command line: <code>grantd changes --tenant ${tenantId} --follow</code></small></p>
  </section>`;
  const body = tenantFrame(tenant, 'changes', content);
  return { kind: 'page', status: refusal?.status ?? 200, title: `Changes of ${tenant.name}`, body };
}

async function liveChanges(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const asked = askedOf(call);
  const session = await tenantSessionOf(dependencies.operator, call);
  const cursor = call.query.optional('cursor');
  const start: FeedStart = cursor === undefined ? { since: 'now' } : { cursor };
  const read = await readChanges(call, session, start, filterOf(asked));
  return { kind: 'part', body: itemsMarkup(session.tenantId, asked, read, dependencies.clock.wallMs()) };
}

export function changesPages(dependencies: PageDependencies): readonly ConsolePage[] {
  const path = '/tenants/:tenantId/changes';
  return [
    {
      method: 'GET',
      path,
      name: 'page-changes',
      access: 'read-only',
      run: (call) => changesPage(dependencies, call),
    },
    {
      method: 'GET',
      path: `${path}/live`,
      name: 'page-changes-live',
      access: 'read-only',
      unattended: true,
      run: (call) => liveChanges(dependencies, call),
    },
  ];
}
