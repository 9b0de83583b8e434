// Times as a person writes them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { timeParser } from '../../../../packages/cli/src/output/times.ts';

const nowMs = () => Date.parse('2026-11-22T12:00:00Z');

describe('a time', () => {
  for (const [text, expected] of [
    ['2026-11-30', '2026-11-30T00:00:00.000Z'],
    ['2026-11-30T12:00', '2026-11-30T12:00:00.000Z'],
    ['2026-11-30T12:00:05Z', '2026-11-30T12:00:05.000Z'],
    ['2026-11-30T12:00:05.250+01:30', '2026-11-30T10:30:05.250Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['0s', '2026-11-22T12:00:00.000Z'],
  ] as const) {
    it(`${text} is the same whichever way it is looked`, () => {
      assert.equal(timeParser(nowMs, 'the past')(text), expected);
      assert.equal(timeParser(nowMs, 'the future')(text), expected);
    });
  }

  it('may be a distance back or ahead', () => {
    assert.equal(timeParser(nowMs, 'the past')('90m'), '2026-11-22T10:30:00.000Z');
    assert.equal(timeParser(nowMs, 'the past')('2w'), '2026-11-08T12:00:00.000Z');
    assert.equal(timeParser(nowMs, 'the future')('90d'), '2027-02-20T12:00:00.000Z');
    assert.equal(timeParser(nowMs, 'the future')('36h'), '2026-11-24T00:00:00.000Z');
  });

  for (const text of [
    '',
    'tomorrow',
    '1',
    '90',
    '90 d',
    '-1d',
    '1.5d',
    '90y',
    '2026-02-30',
    '2026-13-01',
    '26-01-01',
    '2026-11-30T25:00Z',
    '2026-11-30 12:00',
    '2026-11-30T12',
    '999999999w',
    'Nov 30 2026',
  ]) {
    it(`is not ${JSON.stringify(text)}`, () => {
      assert.throws(() => timeParser(nowMs, 'the future')(text), /It must be a day/);
    });
  }
});
