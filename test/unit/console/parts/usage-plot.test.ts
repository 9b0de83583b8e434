// The plot of a tenant's usage: what was refused stands on what was let through, every range is drawn per minute, and
// the limit is that of its time.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  limitsOf,
  USAGE_RANGES,
  usagePlot,
  usageRangeOf,
  usageSteps,
} from '../../../../packages/console/src/parts/usage-plot.ts';
import type { UsageBucket } from '../../../../src/front/front.ts';
import { renderMarkup } from '../../../../src/http/pages/markup.ts';

const NOW = Date.UTC(2026, 10, 22, 12, 0, 7);
const MINUTE_MS = 60_000;
const HOUR = usageRangeOf('hour');
const everyMinute = (minutes: readonly UsageBucket[]) => usageSteps(minutes, MINUTE_MS, NOW - 59 * MINUTE_MS, NOW);

describe('the usage of a tenant', () => {
  it('stands in steps, what was refused on top of what was let through', () => {
    const minute = { requests: 800, refused: 200, checks: 0 };
    const atMs = Math.floor(NOW / 60_000) * 60_000;
    const minutes = everyMinute([{ atMs, ...minute }]);
    const svg = renderMarkup(
      usagePlot(
        HOUR,
        minutes,
        minutes.map(() => 600),
      ),
    );
    const heightOf = (text: string): number => {
      const [, y = ''] = new RegExp(`y1="([\\d.]+)" y2="[\\d.]+"[^>]*></line><text[^>]*>${text}<`).exec(svg) ?? [];
      return Number(y);
    };
    const path = (name: string): readonly number[] =>
      [...(new RegExp(`class="${name}" d="([^"]*)"`).exec(svg)?.[1] ?? '').matchAll(/,([\d.]+)/g)].map(([, y]) =>
        Number(y),
      );
    const [none, limit, all] = [heightOf('0'), heightOf('limit 600'), heightOf('800')];
    assert.ok(none > limit && limit > all && all > 0);
    const highest = (name: string) => Math.min(...path(name));
    assert.deepEqual([highest('plot-area'), highest('plot-refused')], [limit, all]);
    // Nothing between the two minutes: neither a slope nor a curve.
    assert.deepEqual([...new Set(path('plot-line'))], [none, all]);
  });

  it('are drawn against the limit of their time, whatever the limit is now', () => {
    const minuteMs = 60_000;
    const lastMs = Math.floor(NOW / minuteMs) * minuteMs;
    const used = (ago: number, plan?: string) => ({
      ...{ atMs: lastMs - ago * minuteMs, requests: 500, refused: 0, checks: 0 },
      ...(plan === undefined ? {} : { plan }),
    });
    const limitOf = (plan: string) => (plan === 'none' ? undefined : { requests: Number(plan), windowSeconds: 1 });
    const now = { requests: 50, windowSeconds: 1 };
    const minutes = everyMinute([used(40, '10'), used(20, '50'), used(10, 'none')]);
    const limits = limitsOf(minutes, now, limitOf);
    const stretches = limits.map((limit, index) => (limit === limits[index - 1] ? '' : `${index}: ${limit}`));
    assert.deepEqual(stretches.filter(Boolean), ['0: 600', '39: 3000', '49: undefined']);
    const svg = renderMarkup(usagePlot(HOUR, minutes, limits));
    const texts = [...svg.matchAll(/>(limit [\d,]+)</g)].map(([, text]) => text);
    assert.deepEqual(texts, ['limit 600', 'limit 3,000', 'limit 600', 'limit 3,000'], 'in each of the two sizes');
    // No plan is known.
    assert.deepEqual([...new Set(limitsOf(everyMinute([used(40)]), now, limitOf))], [3000]);
  });

  it('is the average per minute of each step, in every range, and loses no request', () => {
    for (const range of USAGE_RANGES) {
      const { stepMs, lengthMs } = range;
      const bucketMs = lengthMs > 25 * 60 * MINUTE_MS ? 60 * MINUTE_MS : MINUTE_MS;
      const lastMs = Math.floor(NOW / bucketMs) * bucketMs;
      const buckets = Array.from({ length: lengthMs / bucketMs }, (_, index) => ({
        ...{ atMs: lastMs - index * bucketMs, requests: 30 * (bucketMs / MINUTE_MS), refused: 0, checks: 1 },
      })).reverse();
      const steps = usageSteps(buckets, stepMs, buckets[0]?.atMs ?? 0, NOW);
      const sum = (all: readonly UsageBucket[]) => all.reduce((total, { requests }) => total + requests, 0);
      assert.equal(sum(steps), sum(buckets), range.name);
      for (const { atMs } of steps) assert.equal(atMs % stepMs, 0);
      const svg = renderMarkup(
        usagePlot(
          range,
          steps,
          steps.map(() => 60),
        ),
      );
      assert.match(svg, new RegExp(`in the last ${range.text}, at most 30; 0 refused`));
      assert.match(svg, />limit 60</);
      assert.doesNotMatch(svg, /NaN|undefined/);
    }
    assert.equal(usageRangeOf('year').name, 'hour');
  });
});
