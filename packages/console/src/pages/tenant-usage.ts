// The requests of a tenant on its overview: the last hour, day, week or month against the limit of its plan.

import { GrantdError } from '../../../../src/core/errors.ts';
import { resolvePlan } from '../../../../src/core/plans.ts';
import type { Tenant } from '../../../../src/core/tenants.ts';
import { MS_PER_DAY, MS_PER_HOUR } from '../../../../src/core/text/timestamps.ts';
import type { TenantProblem, UsageBucket } from '../../../../src/front/front.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { type PageCall, type PageResult, readTenant, tenantPath } from '../page.ts';
import { actorMarkup, liveKeys } from '../parts/actors.ts';
import type { KeyLabel } from '../parts/key-facts.ts';
import { ago, copyCode, count, empty, foreign, minute, plural, refreshing, table } from '../parts/parts.ts';
import {
  type Limit,
  limitPerMinute,
  limitsOf,
  USAGE_RANGES,
  type UsageRange,
  usagePlot,
  usageRangeOf,
  usageSteps,
} from '../parts/usage-plot.ts';

/** A plot begins at the first request, but has at least so many steps. */
const STEPS_MIN = 12;

/** A burst is refused by the limit of the window, however quiet the rest of the minute is. */
function limitInWords(limit: Limit | undefined): string {
  if (limit === undefined) return 'The plan has no limit.';
  const perMinute = `${count(limitPerMinute(limit))} requests per minute`;
  if (limit.windowSeconds === 60) return `The limit is ${perMinute}.`;
  const window = limit.windowSeconds === 1 ? 'second' : plural(limit.windowSeconds, 'second');
  return `The limit is ${plural(limit.requests, 'request')} per ${window}: ${perMinute} if they come evenly.`;
}

function rangeLinks(tenantId: string, { name }: UsageRange): Markup {
  const links = USAGE_RANGES.map((range) => {
    const path = tenantPath(tenantId, '', range === USAGE_RANGES[0] ? {} : { range: range.name });
    const current = range.name === name ? 'true' : undefined;
    return html`<li><a href="${path}#usage" aria-current=${current}>${range.text}</a></li>`;
  });
  return html`<nav class="ranges" aria-label="Range"><ul>${links}</ul></nav>`;
}

function usageTable({ rowMs, text }: UsageRange, rows: readonly UsageBucket[]): Markup {
  const [each, unit] =
    rowMs < MS_PER_HOUR ? ['minute', 'Minute'] : rowMs < MS_PER_DAY ? ['hour', 'Hour'] : ['day', 'Day'];
  const used = rows.filter(({ requests }) => requests > 0).toReversed();
  const shown = table<UsageBucket>(`Requests per ${each}`, used, [
    [unit, ({ atMs }) => minute(atMs)],
    ['Requests', ({ requests }) => count(requests), 'number'],
    ['Checks', ({ checks }) => count(checks), 'number'],
    ['Refused', (row) => count(row.refused), 'number'],
  ]);
  return html`<details><summary>As a table, by the ${each}</summary>
    <p class="hint">Of the last ${text}; a ${each} without a request is left out.</p>${shown}</details>`;
}

/** Undefined: it cannot be read now. */
async function readUsage(call: PageCall, tenantId: string, sinceMs: number) {
  try {
    return await call.operator.call('readUsage', call.context(), { tenantId, sinceMs });
  } catch (error) {
    // The rest of the page does not depend on it.
    if (error instanceof GrantdError && error.retryable) return undefined;
    throw error;
  }
}

function summary(buckets: readonly UsageBucket[], { text }: UsageRange): Markup {
  const sum = (pick: (bucket: UsageBucket) => number): number =>
    buckets.reduce((total, bucket) => total + pick(bucket), 0);
  const refused = sum((bucket) => bucket.refused);
  return html`<p>
    ${plural(
      sum(({ requests }) => requests),
      'request',
    )} with ${plural(
      sum(({ checks }) => checks),
      'check',
    )} in the last ${text}.${' '}
    ${refused === 0 ? 'The limit refused none of them.' : html`<strong>${count(refused)} refused by the limit.</strong>`}
  </p>`;
}

/** What its owner remembers: the newest kinds of problems of each key, with the last one of each. */
const problemsMarkup = (
  problems: readonly TenantProblem[],
  nowMs: number,
  keys: ReadonlyMap<string, KeyLabel>,
): Markup => html`<h2>Problems that its requests met</h2>
  ${table<TenantProblem>('Problems', problems, [
    ['Last', ({ atMs }) => ago(atMs, nowMs)],
    ['Key', ({ keyId }) => actorMarkup(keyId, keys)],
    ['Problem', ({ code: problem, detail }) => html`<span class="badge removed">${problem}</span> ${foreign(detail)}`],
    ['Times', ({ count: times }) => count(times), 'number'],
    ['Since', ({ sinceMs }) => ago(sinceMs, nowMs)],
    ['Last request', ({ requestId }) => copyCode(requestId)],
  ])}
  <p class="hint">The newest kinds, as the owner of the tenant remembers them since it took over.</p>`;

export async function usageMarkup(call: PageCall, { tenantId, plan, createdAtMs }: Tenant): Promise<Markup> {
  const { clock, plans, query } = call;
  const range = usageRangeOf(query.text('range'));
  const limitOf = (name: string): Limit | undefined => {
    const { requests, windowSeconds } = resolvePlan(plans, name);
    return requests === undefined ? undefined : { requests, windowSeconds };
  };
  const limit = limitOf(plan);
  const nowMs = clock.wallMs();
  const beganMs = nowMs - range.lengthMs + range.stepMs;
  const usage = await readUsage(call, tenantId, beganMs);
  const buckets = usage?.buckets;
  const firstMs = buckets?.[0]?.atMs ?? createdAtMs;
  const steps = (stepMs: number): readonly UsageBucket[] => {
    const sinceMs = Math.max(beganMs, Math.min(firstMs, nowMs - STEPS_MIN * stepMs));
    return usageSteps(buckets ?? [], stepMs, sinceMs, nowMs);
  };
  const all = steps(range.stepMs);
  // The current step is incomplete and would look like a drop.
  const complete = all.slice(0, -1);
  const shown = complete.some(({ requests }) => requests > 0) ? complete : all;
  const content =
    buckets === undefined
      ? empty('The requests cannot be read now', 'The store does not respond. This part keeps retrying.')
      : buckets.length === 0
        ? empty(
            `No requests in the last ${range.text}`,
            'Requests are counted by the minute for a day and by the hour for 30 days, and show up within seconds.',
          )
        : html`${summary(buckets, range)}
            ${usagePlot(range, shown, limitsOf(shown, limit, limitOf))}
            ${usageTable(range, steps(range.rowMs))}`;
  const path = tenantPath(tenantId, 'usage', { range: range.name });
  return html`<div id="usage" ...${refreshing(path, range.refreshMs)}>
    <div class="title-row"><h2>Usage</h2>${rangeLinks(tenantId, range)}</div>
    <p>${limitInWords(limit)}</p>
    ${content}
    ${usage !== undefined && usage.problems.length > 0 && problemsMarkup(usage.problems, nowMs, await liveKeys(call))}
  </div>`;
}

export const usagePart = async (call: PageCall): Promise<PageResult> => ({
  kind: 'part',
  body: await usageMarkup(call, await readTenant(call)),
});
