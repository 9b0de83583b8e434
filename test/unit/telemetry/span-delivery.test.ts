// What becomes of spans: batches to the collector, a bound on what waits for it, and one line of the log where it is
// away.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { SpanDelivery } from '../../../src/telemetry/span-delivery.ts';
import { createRecordingLog } from '../../kit/store/store-directory.ts';
import { waitFor } from '../../kit/wait-for.ts';

type Done = Parameters<SpanExporter['export']>[1];

// The delivery looks at no more of a span than whether it is sampled.
const SPAN = {
  spanContext: () => ({ traceId: '1'.repeat(32), spanId: '1'.repeat(16), traceFlags: 1 }),
  resource: { asyncAttributesPending: false },
} as unknown as ReadableSpan;
const FAILURE = { code: 1, error: new Error('connect ECONNREFUSED') };

function createStage() {
  const log = createRecordingLog();
  const metrics = createMetrics();
  const batches: { readonly size: number; readonly done: Done }[] = [];
  let answer: ((done: Done) => void) | undefined;
  const exporter: SpanExporter = {
    export(spans, done) {
      batches.push({ size: spans.length, done });
      answer?.(done);
    },
    shutdown: () => Promise.resolve(),
  };
  const delivery = new SpanDelivery({ log, metrics }, exporter, { delayMs: 1 });
  return {
    lines: log.lines,
    batches,
    delivery,
    /** From now on the collector answers at once. */
    answerAll(result: Parameters<Done>[0]) {
      answer = (done) => done(result);
    },
    end(spans: number) {
      for (let index = 0; index < spans; index += 1) delivery.onEnd(SPAN);
    },
    async counted(outcome: string): Promise<number> {
      const { values } = await metrics.traceSpans.get();
      return values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0;
    },
  };
}

describe('the delivery of spans', () => {
  it('sends what has gathered', async () => {
    const { batches, delivery, end, answerAll, counted, lines } = createStage();
    answerAll({ code: 0 });
    end(3);
    await waitFor('a batch', () => batches.length > 0);
    assert.deepEqual(
      batches.map(({ size }) => size),
      [3],
    );
    assert.equal(await counted('exported'), 3);
    assert.deepEqual(lines, []);
    await delivery.shutdown();
  });

  it('keeps a bounded number for a collector that does not answer, and drops the rest', async () => {
    const { batches, delivery, end, answerAll, counted } = createStage();
    end(100_000);
    assert.equal(batches.length, 1);
    const [first] = batches;
    assert.equal(first?.size, 512);
    assert.equal(await counted('dropped'), 100_000 - 512 - 2048);
    answerAll({ code: 0 });
    first?.done({ code: 0 });
    await waitFor('the rest', async () => (await counted('exported')) === 512 + 2048);
    await delivery.shutdown();
  });

  it('says once that the collector is away, and once that it is back', async () => {
    const { batches, delivery, end, answerAll, counted, lines } = createStage();
    answerAll(FAILURE);
    for (let batch = 1; batch <= 5; batch += 1) {
      end(10);
      await waitFor('a batch', () => batches.length === batch);
    }
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /^warn: the trace collector does not accept spans; dropping them.*ECONNREFUSED/);
    assert.equal(await counted('failed'), 50);
    answerAll({ code: 0 });
    for (let batch = 6; batch <= 8; batch += 1) {
      end(10);
      await waitFor('a batch', () => batches.length === batch);
    }
    assert.equal(lines.length, 2);
    assert.match(lines[1] ?? '', /^info: the trace collector accepts spans again/);
    assert.equal(await counted('exported'), 30);
    await delivery.shutdown();
  });

  it('hands over at its end what still waits', async () => {
    const { batches, delivery, end, answerAll } = createStage();
    answerAll({ code: 0 });
    end(2);
    await delivery.shutdown();
    assert.deepEqual(
      batches.map(({ size }) => size),
      [2],
    );
  });
});
