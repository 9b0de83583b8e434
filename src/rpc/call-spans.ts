// The spans of calls from a front to a shard, at both ends of the stream, by the conventions of OpenTelemetry
// (https://opentelemetry.io/docs/specs/semconv/rpc/rpc-spans/). A stream lives for hours and carries the calls of many
// requests, so each call is a span, as if it were a method of its own, named after its message.

import { status } from '@grpc/grpc-js';
import { GrantdError } from '../core/errors.ts';
import { splitAddress } from '../core/text/addresses.ts';
import { errorTypeOf, runInSpan, type SpanAttributes, type TraceSpan, type Tracing } from '../telemetry/spans.ts';
import { toStreamStatus } from './status-mapping.ts';

const SERVICE = 'grantd.v1.Shard';
/** The name of a check as a request; checks have columns of their own. */
export const CHECK = 'check';

/** `checkBulk` → `grantd.v1.Shard/CheckBulk` */
const methodOf = (request: string): string => `${SERVICE}/${request.charAt(0).toUpperCase()}${request.slice(1)}`;

const attributesOf = (method: string): SpanAttributes => ({ 'rpc.system.name': 'grpc', 'rpc.method': method });

/** Begins the span of one try at a shard. `request` is the name of its field in the protocol. */
export function beginCall(parent: TraceSpan, request: string, address: string): TraceSpan {
  const method = methodOf(request);
  const { host, port } = splitAddress(address);
  const span = parent.child(method, 'client', attributesOf(method));
  span.set({ 'server.address': host, 'server.port': port });
  return span;
}

/** The same call at the shard; undefined if this process does not trace it. */
export function beginServing(
  tracing: Tracing | undefined,
  traceparent: string,
  request: string,
): TraceSpan | undefined {
  if (tracing === undefined) return undefined;
  const method = methodOf(request);
  const span = tracing.begin(method, 'server', { traceparent, tracestate: undefined });
  span?.set(attributesOf(method));
  return span;
}

/** `failure`: what ended the call instead of a reply. */
export function endCall(span: TraceSpan, failure?: unknown): void {
  if (failure === undefined) {
    span.set({ 'rpc.response.status_code': 'OK' });
    span.end();
    return;
  }
  // After any other failure, a front may retry.
  const code = failure instanceof GrantdError ? toStreamStatus(failure).code : status.UNAVAILABLE;
  span.set({ 'rpc.response.status_code': status[code] ?? 'UNKNOWN' });
  span.end(errorTypeOf(failure));
}

/** Serves a call in its span, and ends the span with the result, at once or later. */
export function serveInSpan<Answer>(span: TraceSpan, serve: () => Promise<Answer>): Promise<Answer>;
export function serveInSpan<Answer>(span: TraceSpan, serve: () => Answer | Promise<Answer>): Answer | Promise<Answer>;
export function serveInSpan<Answer>(span: TraceSpan, serve: () => Answer | Promise<Answer>): Answer | Promise<Answer> {
  const fail = (error: unknown): never => {
    endCall(span, error);
    throw error;
  };
  try {
    const answer = runInSpan(span, serve);
    if (answer instanceof Promise) {
      return answer.then((value) => {
        endCall(span);
        return value;
      }, fail);
    }
    endCall(span);
    return answer;
  } catch (error) {
    return fail(error);
  }
}
