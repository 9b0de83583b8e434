// The comparison at equal loads: the accounting of the load program, what the rounds say of a system, and the file that
// keeps the results of a run that was interrupted.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { judgeRounds, type LoadRound } from '../../bench/compare/verdict.ts';
import { findGo } from '../../tools/engines/go.ts';
import { ROOT } from '../kit/source-tree.ts';

/** `testing/synctest`, and what go.mod says. */
const GO_MINOR = 26;
const go = await findGo('the load of the comparison', GO_MINOR);

describe('the load program', { skip: go === undefined }, () => {
  it('counts a stall for every request that was due during it', async () => {
    const folder = join(ROOT, 'bench', 'compare', 'load');
    await go?.run(['vet', './arrivals'], folder);
    await go?.run(['test', '-count=1', './arrivals'], folder);
  });
});

const ROUND: LoadRound = {
  ...{ perSecond: 1000, onTimeShare: 1, isBorne: true, isPunctual: true },
  ...{ p50Ms: 1, p99Ms: 2, p999Ms: 3, maxMs: 4, cpuMicros: 20, loadShare: 0.1, memoryBytes: 1 },
  ...{ lateP50Ms: 0.1, lateP99Ms: 0.2, lateMaxMs: 1, growthMs: 0, waitedShare: 0 },
};
const UNBORNE: LoadRound = { ...ROUND, isBorne: false };
const LATE: LoadRound = { ...ROUND, isPunctual: false };
const BUSY: LoadRound = { ...ROUND, loadShare: 0.95 };

describe('the verdict on a system at one load', () => {
  const CASES: readonly (readonly [string, readonly LoadRound[], string, number])[] = [
    ['that bore it in every round', [ROUND, ROUND, ROUND], 'borne', 3],
    ['that bore it in most rounds', [ROUND, UNBORNE, ROUND], 'borne', 2],
    ['that bore it in half of the rounds', [ROUND, UNBORNE], 'not borne', 1],
    ['that did not bear it', [UNBORNE, UNBORNE], 'not borne', 0],
    ['whose load was sent late in most rounds', [LATE, ROUND, LATE], 'unreliable', 1],
    ['whose load took nearly a whole processor', [BUSY, BUSY, ROUND], 'unreliable', 1],
    [
      'that did not bear what was sent late',
      [
        { ...LATE, isBorne: false },
        { ...LATE, isBorne: false },
      ],
      'unreliable',
      0,
    ],
    ['without rounds that agree', [UNBORNE, LATE, ROUND], 'not borne', 1],
  ];
  for (const [what, rounds, kind, counting] of CASES) {
    it(`is ${kind} for one ${what}`, () => {
      const verdict = judgeRounds(rounds, rounds.length);
      assert.deepEqual([verdict.kind, verdict.counting.length], [kind, counting]);
    });
  }

  it('is lost as soon as the remaining rounds cannot change it, and no earlier', () => {
    const isLost = (...rounds: readonly LoadRound[]): boolean => judgeRounds(rounds, 5).isLost;
    assert.equal(isLost(), false);
    assert.equal(isLost(UNBORNE, LATE), false);
    assert.equal(isLost(UNBORNE, LATE, UNBORNE), true);
    assert.equal(isLost(ROUND, ROUND, UNBORNE, UNBORNE), false);
    assert.equal(isLost(ROUND, ROUND, UNBORNE, UNBORNE, ROUND), false);
  });
});
