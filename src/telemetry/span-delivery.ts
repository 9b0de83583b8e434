// What becomes of spans that have ended: they gather, and go to the collector in batches, one at a time. It keeps: no
// more than a bound of them wait; a collector that is away costs the spans it would have got and one line of the log.

import type { SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { BatchSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/**
 * Those of the specification, some 2 MB:
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
const WAITING_SPANS_MAX = 2048;
const BATCH_SPANS_MAX = 512;
const DELAY_MS_DEFAULT = 5000;
/** For one batch, its repetitions included. */
const EXPORT_MS_MAX = 10_000;

type Export = SpanExporter['export'];
/** The code of a success, which the library exports from a package that comes with it only by the way. */
const SUCCESS = 0;

export class SpanDelivery implements SpanProcessor {
  readonly #metrics: Metrics;
  readonly #log: Log;
  readonly #batches: BatchSpanProcessor;
  /** Ended and not yet handed to the exporter. */
  #waiting = 0;
  #failing = false;

  constructor(
    dependencies: { readonly log: Log; readonly metrics: Metrics },
    exporter: SpanExporter,
    options: { readonly delayMs?: number | undefined } = {},
  ) {
    this.#log = dependencies.log;
    this.#metrics = dependencies.metrics;
    this.#batches = new BatchSpanProcessor(
      {
        export: (spans, done) => this.#export((...call) => exporter.export(...call), spans, done),
        forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
        shutdown: () => exporter.shutdown(),
      },
      {
        maxQueueSize: WAITING_SPANS_MAX,
        maxExportBatchSize: BATCH_SPANS_MAX,
        scheduledDelayMillis: options.delayMs ?? DELAY_MS_DEFAULT,
        exportTimeoutMillis: EXPORT_MS_MAX,
      },
    );
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#waiting >= WAITING_SPANS_MAX) {
      this.#metrics.traceSpans.inc({ outcome: 'dropped' });
      return;
    }
    this.#waiting += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  #export(send: Export, spans: ReadableSpan[], done: Parameters<Export>[1]): void {
    this.#waiting -= spans.length;
    send(spans, (result) => {
      const delivered = result.code === SUCCESS;
      this.#metrics.traceSpans.inc({ outcome: delivered ? 'exported' : 'failed' }, spans.length);
      if (!delivered && !this.#failing) {
        // Its text may repeat what the collector answered; the headers are not in it.
        this.#log.warn({ reason: result.error?.message }, 'the trace collector does not accept spans; dropping them');
      } else if (delivered && this.#failing) {
        this.#log.info('the trace collector accepts spans again');
      }
      this.#failing = !delivered;
      done(result);
    });
  }
}
