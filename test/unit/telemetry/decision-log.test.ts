// The decision log: which requests it takes, what waits and how much, and what becomes of it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  DECISION_BYTES_MAX,
  DECISIONS_PER_BATCH,
  DecisionLog,
  type DecisionLogOptions,
  REASONS_PER_SECOND_MAX,
} from '../../../src/telemetry/decision-log.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { createRecordingLog } from '../../kit/store/store-directory.ts';
import { VirtualClock } from '../../kit/virtual-clock.ts';
import { decision } from './decisions.ts';

/** Longer than a decision waits for others. */
const LONG_MS = 1000;

function createStage(options: Partial<DecisionLogOptions> = {}, seed = 1) {
  const clock = new VirtualClock();
  const log = createRecordingLog();
  const metrics = createMetrics();
  const reasons: (string | undefined)[] = [];
  const batches: { readonly indexes: readonly number[]; end(error?: Error): void }[] = [];
  /** Undefined: a test ends each delivery itself. */
  let outcome: (() => Error | undefined) | undefined;
  let closed = false;
  const decisions = new DecisionLog(
    { clock, random: { bytes: () => Uint8Array.of(seed, 0, 0, 0) }, log, metrics },
    {
      deliver: (delivered) =>
        new Promise((resolve, reject) => {
          const end = (error?: Error) => (error === undefined ? resolve() : reject(error));
          reasons.push(...delivered.map(({ reason }) => reason));
          batches.push({ indexes: delivered.map(({ index }) => index), end });
          if (outcome !== undefined) end(outcome());
        }),
      close: async () => {
        closed = true;
      },
    },
    { rate: 1, tenants: [], explained: 0, ...options },
  );
  return {
    clock,
    decisions,
    reasons,
    batches,
    lines: log.lines,
    isClosed: () => closed,
    deliverAll: (error?: Error) => {
      outcome = () => error;
    },
    record: (count: number, from = 0) => {
      for (let index = from; index < from + count; index += 1) decisions.record(decision(index));
    },
    async counted(label: string): Promise<number> {
      const { values } = await metrics.decisionLogRecords.get();
      return values.find(({ labels }) => labels.outcome === label)?.value ?? 0;
    },
  };
}

describe('which requests the decision log takes', () => {
  const taken = (options: Partial<DecisionLogOptions>, seed = 1): readonly boolean[] => {
    const { decisions } = createStage(options, seed);
    return Array.from({ length: 20_000 }, () => decisions.takes('ten_a'));
  };
  const share = (all: readonly boolean[]): number => all.filter(Boolean).length / all.length;

  it('is the share that is set, drawn at random from a seed', () => {
    assert.equal(share(taken({ rate: 1 })), 1);
    assert.equal(share(taken({ rate: 0 })), 0);
    for (const rate of [0.01, 0.1, 0.5]) {
      const found = share(taken({ rate }));
      assert.ok(Math.abs(found - rate) < 4 * Math.sqrt((rate * (1 - rate)) / 20_000), `${found} for ${rate}`);
    }
    assert.deepEqual(taken({ rate: 0.1 }, 7), taken({ rate: 0.1 }, 7));
    assert.notDeepEqual(taken({ rate: 0.1 }, 7), taken({ rate: 0.1 }, 8));
  });

  it('are all of a named tenant, whatever the share', () => {
    const { decisions } = createStage({ rate: 0, tenants: ['ten_a'] });
    assert.equal(decisions.takes('ten_a'), true);
    assert.equal(decisions.takes('ten_b'), false);
  });
});

describe('the reasons of denials', () => {
  it('are asked for as set, some at once and some a second, and none keeps a decision from the log', async () => {
    const none = createStage({ explained: 0 });
    none.decisions.record(decision(0), () => assert.fail('nobody asks'));
    const { clock, decisions, reasons, deliverAll } = createStage({ explained: 1 });
    deliverAll();
    const asked: PromiseWithResolvers<string>[] = [];
    const ask = (): Promise<string> => {
      const reason = Promise.withResolvers<string>();
      asked.push(reason);
      return reason.promise;
    };
    for (let index = 0; index < 5; index += 1) decisions.record(decision(index), ask);
    assert.equal(asked.length, 2, 'at once');
    asked[0]?.resolve('r'.repeat(5000));
    asked[1]?.reject(new Error('the owner is gone'));
    await clock.advance(LONG_MS);
    assert.deepEqual(
      reasons.map((reason) => reason?.length),
      [undefined, undefined, undefined, 2000, undefined],
    );
    for (let index = 0; index < 3 * REASONS_PER_SECOND_MAX; index += 1) {
      decisions.record(decision(index), async () => 'because');
      await clock.advance(0);
    }
    await clock.advance(LONG_MS);
    assert.equal(reasons.filter((reason) => reason === 'because').length, REASONS_PER_SECOND_MAX);
    assert.equal(reasons.length, 5 + 3 * REASONS_PER_SECOND_MAX);
  });
});

describe('the delivery of decisions', () => {
  it('gathers for a moment, and sends them in order', async () => {
    const { clock, batches, record, deliverAll, counted } = createStage();
    deliverAll();
    record(3);
    await clock.advance(1);
    assert.deepEqual(batches, []);
    await clock.advance(LONG_MS);
    assert.deepEqual(
      batches.map(({ indexes }) => indexes),
      [[0, 1, 2]],
    );
    assert.equal(await counted('delivered'), 3);
    assert.equal(clock.timers, 0, 'nothing is left behind');
  });

  it('waits no longer once a batch is full, and has one delivery at a time', async () => {
    const { clock, batches, record } = createStage();
    record(2 * DECISIONS_PER_BATCH + 1);
    await clock.advance(1);
    assert.equal(batches.length, 1);
    batches[0]?.end();
    await clock.advance(1);
    assert.deepEqual(
      batches.map(({ indexes }) => [indexes[0], indexes.length]),
      [
        [0, DECISIONS_PER_BATCH],
        [DECISIONS_PER_BATCH, DECISIONS_PER_BATCH],
      ],
    );
  });

  it('keeps a bounded number of bytes while nothing is taken, and counts the rest as dropped', async () => {
    const { clock, batches, decisions, record, deliverAll, counted } = createStage();
    const all = 100_000;
    record(all);
    await clock.advance(LONG_MS);
    const kept = all - (await counted('dropped'));
    assert.ok(kept > 1000 && kept * 500 <= DECISION_BYTES_MAX, `${kept} are kept`);
    // Long identifiers take more of it.
    decisions.record(decision(0, { object: `document:${'x'.repeat(256)}` }));
    assert.equal(all + 1 - (await counted('dropped')), kept);
    deliverAll();
    batches[0]?.end();
    await clock.advance(LONG_MS);
    assert.equal(await counted('delivered'), kept);
    record(1);
    await clock.advance(LONG_MS);
    assert.equal(await counted('delivered'), kept + 1, 'there is capacity again');
  });

  it('counts what fails, and says so once', async () => {
    const { clock, record, deliverAll, counted, lines } = createStage();
    deliverAll(new Error('connect ECONNREFUSED'));
    for (let round = 0; round < 3; round += 1) {
      record(2);
      await clock.advance(LONG_MS);
    }
    deliverAll();
    record(1);
    await clock.advance(LONG_MS);
    assert.deepEqual([await counted('failed'), await counted('delivered')], [6, 1]);
    assert.deepEqual(
      lines.map((line) => line.split(':')[0]),
      ['warn', 'info'],
    );
    assert.match(lines[0] ?? '', /ECONNREFUSED/);
  });
});

describe('the end of the decision log', () => {
  it('delivers what waits', async () => {
    const { decisions, batches, record, deliverAll, isClosed, counted } = createStage();
    deliverAll();
    record(DECISIONS_PER_BATCH + 2);
    await decisions.close();
    assert.deepEqual([batches.length, isClosed()], [2, true]);
    assert.equal(await counted('delivered'), DECISIONS_PER_BATCH + 2);
    record(1);
    assert.equal(await counted('dropped'), 1);
  });

  it('comes in a bounded time where nothing is taken any more', async () => {
    const { clock, decisions, record, isClosed, counted } = createStage();
    record(DECISIONS_PER_BATCH + 2);
    await clock.advance(LONG_MS);
    const closing = decisions.close();
    await clock.advance(10 * LONG_MS);
    await closing;
    assert.equal(isClosed(), true);
    assert.equal(await counted('dropped'), 2);
  });
});
