// Delivers ended spans: they gather, and go to the collector in batches, one at a time. Invariants: the number of
// waiting spans is bounded. While the collector is away, its spans are lost, and one log line says so.

import type { SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { BatchSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/**
 * The specification's default, about 2 MB:
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
const WAITING_SPANS_MAX = 2048;
const BATCH_SPANS_MAX = 512;
const DELAY_MS_DEFAULT = 5000;
/** For one batch, including its retries. */
const EXPORT_MS_MAX = 10_000;

type Export = SpanExporter['export'];
/** The success code, which the library exports only from one of its transitive packages. */
const SUCCESS = 0;

export class SpanDelivery implements SpanProcessor {
  readonly #metrics: Metrics;
  readonly #log: Log;
  readonly #batches: BatchSpanProcessor;
  /** Ended spans that are not yet handed to the exporter. */
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
        // Its text may repeat the collector's response, but not the headers.
        this.#log.warn({ reason: result.error?.message }, 'the trace collector does not accept spans; dropping them');
      } else if (delivered && this.#failing) {
        this.#log.info('the trace collector accepts spans again');
      }
      this.#failing = !delivered;
      done(result);
    });
  }
}
