// Tracing by OpenTelemetry, over OTLP. Loaded only if it is enabled, because its libraries are many. Invariants: a
// request that is not sampled has no span, so nothing below it does any work. A client's trace context is used as its
// standard requires, or not at all.

import {
  createTraceState,
  SpanKind as OtelKind,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { assertNever } from '../core/assert.ts';
import type { SamplerName } from './choices.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { createOtelResource } from './otel-resource.ts';
import { SpanDelivery } from './span-delivery.ts';
import type { SpanAttributes, SpanKind, TraceSpan, Tracing } from './spans.ts';

/** Longer values are cut; our own attributes are much shorter. */
const ATTRIBUTE_LENGTH_MAX = 256;
/** Links from a group commit to the writes that it carries; the oldest are dropped. */
const LINKS_MAX = 128;
/**
 * Batches go one at a time; one that gets no whole response in time does not hold up the others. The library reads such
 * a response for as long as bytes come, 4 MiB of it at most. With so many of them it takes no more spans.
 */
const EXPORTS_MAX = 4;
/** How long the process waits for the collector when it stops. */
const CLOSE_MS_MAX = 2000;

export interface TracingOptions {
  /** Accepts OTLP over HTTP, as protobuf. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sampler: SamplerName;
  /** For the samplers by ratio: 0 to 1. */
  readonly ratio: number;
  /** What describes this process: `service.name` and so on. */
  readonly resource: Readonly<Record<string, string>>;
  readonly version: string;
  /** How long a span waits for others to be sent together. */
  readonly delayMs?: number;
}

const KINDS: Readonly<Record<SpanKind, OtelKind>> = {
  server: OtelKind.SERVER,
  client: OtelKind.CLIENT,
  internal: OtelKind.INTERNAL,
};

function createSampler(name: SamplerName, ratio: number): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
    case 'parentbased_always_off':
    case 'parentbased_traceidratio':
      // Requests without a parent are sampled before they reach it: see `rootShareOf`.
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    default:
      return assertNever(name);
  }
}

/**
 * The share of requests without a parent to sample, for the samplers that follow a parent. The draw is made here,
 * because the library needs a microsecond for each request that it does not sample, and most requests are such. Child
 * spans follow the decision for their request. The other samplers must reach the same decision in every process, by the
 * trace id.
 */
function rootShareOf(name: SamplerName, ratio: number): number | undefined {
  if (name === 'parentbased_always_on') return 1;
  if (name === 'parentbased_always_off') return 0;
  return name === 'parentbased_traceidratio' ? ratio : undefined;
}

class RecordedSpan implements TraceSpan {
  readonly #tracer: Tracer;
  readonly #span: Span;
  #ended = false;

  constructor(tracer: Tracer, span: Span) {
    this.#tracer = tracer;
    this.#span = span;
  }

  get context(): SpanContext {
    return this.#span.spanContext();
  }

  get traceparent(): string {
    const { traceId, spanId } = this.context;
    return formatTraceparent(traceId, spanId);
  }

  get ended(): boolean {
    return this.#ended;
  }

  child(name: string, kind: SpanKind, attributes: SpanAttributes = {}): TraceSpan {
    const options = { kind: KINDS[kind], attributes };
    return new RecordedSpan(
      this.#tracer,
      this.#tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, this.#span)),
    );
  }

  link(other: TraceSpan): void {
    if (other instanceof RecordedSpan) this.#span.addLink({ context: other.context });
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes);
  }

  end(errorType?: string): void {
    if (this.#ended) return;
    this.#ended = true;
    if (errorType !== undefined) {
      this.#span.setAttribute('error.type', errorType);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

export function createTracing(
  dependencies: { readonly log: Log; readonly metrics: Metrics },
  options: TracingOptions,
): Tracing {
  const delivery = new SpanDelivery(
    dependencies,
    new OTLPTraceExporter({ url: options.url, headers: { ...options.headers }, concurrencyLimit: EXPORTS_MAX }),
    { delayMs: options.delayMs },
  );
  const provider = new BasicTracerProvider({
    sampler: createSampler(options.sampler, options.ratio),
    resource: createOtelResource(options.resource),
    spanLimits: { attributeValueLengthLimit: ATTRIBUTE_LENGTH_MAX, linkCountLimit: LINKS_MAX },
    spanProcessors: [delivery],
  });
  const tracer = provider.getTracer('grantd', options.version);
  const rootShare = rootShareOf(options.sampler, options.ratio);

  return {
    begin(name, kind, { traceparent, tracestate, elapsedMs = 0 }) {
      const parent = parseTraceparent(traceparent);
      const taken = parent === undefined ? Math.random() < (rootShare ?? 1) : parent.sampled;
      if (rootShare !== undefined && !taken) return undefined;
      let context = ROOT_CONTEXT;
      if (parent !== undefined) {
        const { traceId, spanId, sampled } = parent;
        context = trace.setSpanContext(ROOT_CONTEXT, {
          traceId,
          spanId,
          traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
          isRemote: true,
          // The library drops values longer than 512 characters, and members beyond 32 or of a wrong form.
          ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
        });
      }
      // An explicit start is exact only to the millisecond: too coarse for a request that has just begun.
      const begun = elapsedMs < 1 ? {} : { startTime: Date.now() - elapsedMs };
      const span = tracer.startSpan(name, { kind: KINDS[kind], ...begun }, context);
      return span.isRecording() ? new RecordedSpan(tracer, span) : undefined;
    },
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_MS_MAX);
      });
      // Failed deliveries have already been logged.
      await Promise.race([provider.shutdown().catch(() => {}), late]);
      clearTimeout(timer);
    },
  };
}

// ---- the W3C header traceparent (https://www.w3.org/TR/trace-context/#traceparent-header) ----

/** For version 00; a later version may append more after another hyphen. */
const LENGTH = 55;
/** No useful header is longer. */
const LENGTH_MAX = 255;
const FORM = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

export interface Traceparent {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

/** The header comes from untrusted clients: a value that does not have exactly its form counts as absent. */
export function parseTraceparent(text: string | undefined): Traceparent | undefined {
  if (text === undefined || text.length < LENGTH || text.length > LENGTH_MAX) return undefined;
  const [, version, traceId, spanId, flags] = FORM.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && text.length !== LENGTH) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** For a recorded, and therefore sampled, span. */
export function formatTraceparent(traceId: string, spanId: string): string {
  return `00-${traceId}-${spanId}-01`;
}
