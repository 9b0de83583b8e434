// Plots of the cluster: what was not sampled is not drawn, and a peak is not lost.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HISTORY_MS, type Sample } from '../../../../packages/console/src/cluster-history.ts';
import { bucketsOf, gapsIn, timePlot } from '../../../../packages/console/src/parts/plots.ts';
import { renderMarkup } from '../../../../src/http/pages/markup.ts';

const NOW = Date.UTC(2026, 10, 22, 12, 0, 7);
const SECOND_MS = 1000;

function sample(secondsAgo: number, checksPerSecond: number | undefined): Sample {
  const others = { p99Ms: undefined, failuresPerSecond: undefined, slotsDown: 0, lag: undefined };
  return { atMs: NOW - secondsAgo * SECOND_MS, checksPerSecond, ...others };
}
/** One every five seconds, oldest first. */
const samples = (fromSecondsAgo: number, toSecondsAgo: number, value: number | undefined): readonly Sample[] =>
  Array.from({ length: (fromSecondsAgo - toSecondsAgo) / 5 }, (_, index) => sample(fromSecondsAgo - index * 5, value));
const agoInSeconds = ({ fromMs, toMs }: { fromMs: number; toMs: number }) => [
  (NOW - fromMs) / SECOND_MS,
  (NOW - toMs) / SECOND_MS,
];
const PLOT = { title: 'Checks', figure: 'checksPerSecond', format: String } as const;
const draw = (of: readonly Sample[], nowMs = NOW): string => renderMarkup(timePlot(PLOT, of, nowMs));
const piecesIn = (svg: string): number => (/class="plot-line" d="([^"]*)"/.exec(svg)?.[1]?.split('M').length ?? 1) - 1;

describe('a figure of the last hour', () => {
  it('shows the highest sample of each quarter of a minute, whenever it is drawn', () => {
    const spiked = [...samples(300, 0, 10), sample(100, 99)].toSorted((left, right) => left.atMs - right.atMs);
    for (const nowMs of [NOW, NOW + 1234, NOW + 9000]) {
      const peaks = bucketsOf(spiked, 'checksPerSecond', nowMs).filter(({ value }) => value === 99);
      assert.deepEqual(
        peaks.map(({ atMs }) => atMs),
        [Date.UTC(2026, 10, 22, 11, 58, 15)],
      );
    }
  });

  it('has a gap where nothing was sampled, and none where it was sampled without a value', () => {
    const of = [...samples(1807, 1207, 5), ...samples(607, 307, undefined), ...samples(307, 0, 7)];
    assert.deepEqual(gapsIn(bucketsOf(of, 'checksPerSecond', NOW)).map(agoInSeconds), [[1207, 607]]);
    const svg = draw(of);
    assert.equal(piecesIn(svg), 2);
    assert.equal(svg.match(/class="plot-gap"/g)?.length, 1);
    assert.match(svg, /Checks, last hour: 7 at 12:00:00; at most 7 at [\d:]+; no samples from 11:40:00 to 11:50:00/);
  });

  it('begins at the first sample, but is never shorter than five minutes', () => {
    const acrossOf = (of: readonly Sample[]): readonly number[] => {
      const [, path = ''] = /class="plot-line" d="([^"]*)"/.exec(draw(of)) ?? [];
      return path.split(/[ML]/).filter(Boolean).map(Number.parseFloat);
    };
    const [left, right] = [44, 374];
    const [first = 0] = acrossOf(samples(1200, 0, 5));
    assert.ok(first - left < 5, `twenty minutes of samples fill the plot: ${first}`);
    const [begin = 0] = acrossOf(samples(30, 0, 5));
    assert.ok(begin > (left + right) / 2, `half a minute of samples does not: ${begin}`);
  });

  it('does not count the quarter of a minute that has only begun as a gap', () => {
    const full = samples(3600, 0, 1).filter(({ atMs }) => atMs < NOW - 7 * SECOND_MS);
    assert.deepEqual(gapsIn(bucketsOf(full, 'checksPerSecond', NOW)), []);
    assert.equal(gapsIn(bucketsOf(full, 'checksPerSecond', NOW + 15 * SECOND_MS)).length, 1);
  });

  it('is drawn without any sample, and never outside of its axis', () => {
    assert.equal(piecesIn(draw([])), 0);
    assert.match(draw([]), /no data/);
    const [, path = ''] = /class="plot-line" d="([^"]*)"/.exec(draw(samples(HISTORY_MS / SECOND_MS, 0, 3))) ?? [];
    const across = path.split(/[ML]/).filter(Boolean).map(Number.parseFloat);
    assert.ok(across.length > 230);
    for (const x of across) assert.ok(x >= 44 && x <= 374, String(x));
  });
});
