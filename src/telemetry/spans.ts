// Spans as the rest of the program sees them: a port, and the span that a piece of work belongs to. It keeps: where
// nothing is recorded there is no span at all, so that a request which is not traced pays one test; no key, token,
// subject or object ever becomes a name or an attribute, and an error becomes its kind, never its text.

import { AsyncLocalStorage } from 'node:async_hooks';
import { GrantdError } from '../core/errors.ts';

export type SpanKind = 'server' | 'client' | 'internal';
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** One span that is recorded. */
export interface TraceSpan {
  /** W3C trace context, for a neighbour process: https://www.w3.org/TR/trace-context/#traceparent-header */
  readonly traceparent: string;
  readonly ended: boolean;
  child(name: string, kind: SpanKind, attributes?: SpanAttributes): TraceSpan;
  /** Says that the other span has to do with this one, although neither began the other. */
  link(other: TraceSpan): void;
  set(attributes: SpanAttributes): void;
  /** `errorType`: of a failure, one of a small set. What is done to a span after its end changes nothing. */
  end(errorType?: string): void;
}

export interface Tracing {
  /** The span of a request from outside, with the trace context that it brought. Undefined: it is not sampled. */
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
  /** Hands over what has ended, for a bounded time. */
  close(): Promise<void>;
}

const current = new AsyncLocalStorage<TraceSpan>();

/** The span that the running code works for, unless it has ended: what goes on behind it is nobody's. */
export function currentSpan(): TraceSpan | undefined {
  const span = current.getStore();
  return span === undefined || span.ended ? undefined : span;
}

/** Runs a function, and all that it starts and awaits, for this span. */
export function runInSpan<Result>(span: TraceSpan, run: () => Result): Result {
  return current.run(span, run);
}

/** A name for a failure, out of a small set. */
export function errorTypeOf(error: unknown): string {
  if (error instanceof GrantdError) return error.code;
  if (!(error instanceof Error)) return '_OTHER';
  return 'kind' in error && typeof error.kind === 'string' ? error.kind : error.name;
}

/** Runs a step in a child of the current span, which ends with it. Where there is no current span it just runs. */
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
