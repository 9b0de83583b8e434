// The trail of a tenant: when, what, by whom, newest first. It can be read for a tenant that is being deleted, too.

import { z } from 'zod';
import type { TrailRow } from '../../store/store.ts';
import { tenantFrame } from './layout.ts';
import { html, type Markup } from './markup.ts';
import type { Page, PageAnswer, PageCall, PageDependencies } from './page.ts';
import { code, empty, foreign, moment, pager, table } from './parts.ts';
import { readTenant } from './tenant.ts';

const CHANGES_PER_PAGE = 50;

/** A change as the log describes it. What a later version adds is shown as it stands. */
const changeShape = z.object({
  action: z.string(),
  subject: z.string().optional(),
  relation: z.string().optional(),
  object: z.string().optional(),
  name: z.string().optional(),
  key_id: z.string().optional(),
  plan: z.string().optional(),
  state: z.string().optional(),
});

function parseChange(text: string): z.output<typeof changeShape> | undefined {
  try {
    return changeShape.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function whatMarkup(change: string): Markup {
  const parsed = parseChange(change);
  if (parsed === undefined) return html`<code class="long">${change}</code>`;
  const { action, subject, relation, object, name, key_id: keyId, plan, state } = parsed;
  const details: Markup[] = [
    subject === undefined
      ? undefined
      : html` ${foreign(subject)} <strong>${relation}</strong> ${foreign(object ?? '')}`,
    name === undefined || name === '' ? undefined : html` ${foreign(name)}`,
    keyId === undefined ? undefined : html` ${code(keyId)}`,
    plan === undefined ? undefined : html` plan ${plan}`,
    state === undefined ? undefined : html`, ${state}`,
  ];
  return html`<span class="badge">${action}</span>${details}`;
}

function actorMarkup(actor: string): Markup {
  const name = /^operator:(.*)$/su.exec(actor)?.[1];
  return name === undefined ? code(actor) : html`operator token ${foreign(name)}`;
}

async function trailPage(dependencies: PageDependencies, call: PageCall): Promise<PageAnswer> {
  const tenant = await readTenant(dependencies, call);
  const cursor = call.query.optional('cursor');
  const query = { limit: CHANGES_PER_PAGE, cursor, newestFirst: true };
  const page = await dependencies.operator.listTrail(call.context(), tenant.tenantId, query);
  const listing =
    page.items.length === 0
      ? empty(
          'Nothing here',
          page.nextCursor === undefined
            ? 'Changes of this tenant appear here as they are made.'
            : 'There are older changes: go on with the next page.',
        )
      : table<TrailRow>(
          'Changes',
          [
            { title: 'When (UTC)', cell: ({ atMs }) => moment(atMs) },
            { title: 'What', cell: ({ change }) => whatMarkup(change) },
            { title: 'By', cell: ({ actor }) => actorMarkup(actor) },
            { title: 'Request', cell: ({ requestId }) => code(requestId) },
          ],
          page.items,
        );
  const parts = ['tenants', tenant.tenantId, 'trail'];
  const content = html`<section aria-labelledby="trail-title">
    <h2 id="trail-title">Trail</h2>
    ${listing}${pager({ parts, query: {}, cursor, next: page.nextCursor })}
    <p><small>The command line follows it: <code>grantd changes --tenant ${tenant.tenantId}</code></small></p>
  </section>`;
  return { kind: 'page', status: 200, title: `Trail of ${tenant.name}`, body: tenantFrame(tenant, 'trail', content) };
}

export function trailPages(dependencies: PageDependencies): readonly Page[] {
  const run = (call: PageCall): Promise<PageAnswer> => trailPage(dependencies, call);
  return [{ method: 'GET', path: '/tenants/:tenantId/trail', name: 'page-trail', run }];
}
