// Spans for the rest of the program: a port, and the span that the current work belongs to. Invariants: without a
// recording there is no span at all, so an untraced request costs one test. No key, token, subject or object ever
// becomes a name or an attribute, and an error appears by its kind, never by its text.

import { AsyncLocalStorage } from 'node:async_hooks';
import { GrantdError } from '../core/errors.ts';

export type SpanKind = 'server' | 'client' | 'internal';
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A recorded span. */
export interface TraceSpan {
  /** W3C trace context, for a neighbouring process: https://www.w3.org/TR/trace-context/#traceparent-header */
  readonly traceparent: string;
  readonly ended: boolean;
  child(name: string, kind: SpanKind, attributes?: SpanAttributes): TraceSpan;
  /** Links the other span to this one, if neither started the other. */
  link(other: TraceSpan): void;
  set(attributes: SpanAttributes): void;
  /** `errorType`: for a failure, one of a small set. Later calls on an ended span have no effect. */
  end(errorType?: string): void;
}

export interface Tracing {
  /** The span of a request from outside, with the trace context in it. Undefined: it is not sampled. */
  begin(
    name: string,
    kind: SpanKind,
    from: {
      readonly traceparent: string | undefined;
      readonly tracestate: string | undefined;
      /** How long ago it began; absent: now. */
      readonly elapsedMs?: number;
    },
  ): TraceSpan | undefined;
  /** Delivers the ended spans, for a bounded time. */
  close(): Promise<void>;
}

const current = new AsyncLocalStorage<TraceSpan>();

/** The span of the running code, unless it has ended: work that outlives its span belongs to none. */
export function currentSpan(): TraceSpan | undefined {
  const span = current.getStore();
  return span === undefined || span.ended ? undefined : span;
}

/** Runs a function, and everything that it starts and awaits, in this span. */
export function runInSpan<Result>(span: TraceSpan, run: () => Result): Result {
  return current.run(span, run);
}

/** A name for a failure, from a small set. */
export function errorTypeOf(error: unknown): string {
  if (error instanceof GrantdError) return error.code;
  if (!(error instanceof Error)) return '_OTHER';
  return 'kind' in error && typeof error.kind === 'string' ? error.kind : error.name;
}

/**
 * Runs a step in a child of the current span, which ends with the step. Without a current span, it only runs the step.
 */
export function runTraced<Result>(
  name: string,
  kind: SpanKind,
  attributes: SpanAttributes,
  run: (span: TraceSpan | undefined) => Promise<Result>,
): Promise<Result> {
  const span = currentSpan()?.child(name, kind, attributes);
  return span === undefined ? run(undefined) : runToEnd(span, run);
}

async function runToEnd<Result>(span: TraceSpan, run: (span: TraceSpan) => Promise<Result>): Promise<Result> {
  try {
    const result = await runInSpan(span, () => run(span));
    span.end();
    return result;
  } catch (error) {
    span.end(errorTypeOf(error));
    throw error;
  }
}
