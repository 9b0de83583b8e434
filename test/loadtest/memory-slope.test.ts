// Whether memory is said to stay level or to grow.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fitSlope, readMetric } from '../../loadtest/memory-slope.ts';

const MIB = 1024 * 1024;
const near = (actual: number | undefined, expected: number, within: number): void =>
  assert.ok(Math.abs((actual ?? Number.NaN) - expected) < within, `${actual} is not ${expected}`);

const samplesOf = (bytesAt: (seconds: number) => number) =>
  Array.from({ length: 90 }, (_, index) => ({ seconds: 300 + index * 10, bytes: bytesAt(index * 10) }));

describe('the line through samples of memory', () => {
  it('has the slope of a steady growth', () => {
    const slope = fitSlope(samplesOf((seconds) => 100 * MIB + seconds * 1000));
    near(slope?.bytesPerHour, 3_600_000, 1);
    near(slope?.percentPerHour, (3_600_000 * 100) / (slope?.meanBytes ?? 0), 0.001);
  });

  it('is level where memory goes up and down about the same', () => {
    const slope = fitSlope(samplesOf((seconds) => (180 + 5 * ((seconds / 10) % 7)) * MIB));
    near(slope?.percentPerHour, 0, 4);
  });

  it('shows a growth beneath the ups and downs', () => {
    const slope = fitSlope(samplesOf((seconds) => (180 + 5 * ((seconds / 10) % 7) + seconds / 20) * MIB));
    near(slope?.percentPerHour, ((180 * 100) / (slope?.meanBytes ?? 0)) * MIB, 4);
  });

  it('falls where memory is given back', () => {
    assert.ok((fitSlope(samplesOf((seconds) => 200 * MIB - seconds * 1000))?.bytesPerHour ?? 0) < 0);
  });

  it('is not there without enough samples, or with all of one moment', () => {
    assert.equal(fitSlope(samplesOf(() => MIB).slice(0, 2)), undefined);
    assert.equal(fitSlope(Array(5).fill({ seconds: 1, bytes: MIB })), undefined);
  });
});

describe('a metric', () => {
  const TEXT = '# TYPE a gauge\na 12\na_b 13\nb{shard="x"} 1.5e+3\n';

  it('is read by its whole name, with labels or without', () => {
    assert.deepEqual([readMetric(TEXT, 'a'), readMetric(TEXT, 'a_b'), readMetric(TEXT, 'b')], [12, 13, 1500]);
  });

  it('that is not there is an error', () => {
    assert.throws(() => readMetric(TEXT, 'c'), /do not contain c/);
  });
});
