// The span of an HTTP request, by the conventions of OpenTelemetry
// (https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-server). Its path is the route, and it has no
// query: the actual ones may contain a subject, an object or a key. It does not identify the client.

import type { TraceSpan, Tracing } from './spans.ts';

/** The methods that RFC 9110 and RFC 5789 define. */
const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
]);

type Header = string | readonly string[] | undefined;

export interface TracedRequest {
  readonly method?: string | undefined;
  readonly httpVersion: string;
  readonly headers: { readonly traceparent?: Header; readonly tracestate?: Header };
  /** Calls `listener` if the client disconnects before the response. */
  onceClosed(listener: () => void): void;
}

const textOf = (header: Header): string | undefined => (typeof header === 'object' ? header.join(',') : header);

export interface RequestFacts {
  /** The path with the names of its parameters; undefined: nothing is there. */
  readonly route: string | undefined;
  readonly requestId: string;
  /** The time since the request began; since then its key was verified. */
  readonly elapsedMs: number;
}

/** Only for authenticated callers: no other client may cause a recording by a header. */
export function beginRequestSpan(
  tracing: Tracing,
  request: TracedRequest,
  { route, requestId, elapsedMs }: RequestFacts,
): TraceSpan | undefined {
  const { method = '', headers } = request;
  const known = METHODS.has(method);
  const name = known ? method : 'HTTP';
  const span = tracing.begin(route === undefined ? name : `${name} ${route}`, 'server', {
    traceparent: textOf(headers.traceparent),
    tracestate: textOf(headers.tracestate),
    elapsedMs,
  });
  span?.set({
    'http.request.method': known ? method : '_OTHER',
    'url.scheme': 'http',
    'network.protocol.version': request.httpVersion,
    'grantd.request_id': requestId,
    ...(route === undefined ? {} : { 'http.route': route, 'url.path': route }),
    ...(known ? {} : { 'http.request.method_original': method }),
  });
  // If a client disconnects in the middle of its request, no response ends the span.
  if (span !== undefined) request.onceClosed(() => span.end('client-closed'));
  return span;
}

/** A client error is not a failure of this server. */
export function endRequestSpan(span: TraceSpan, status: number): void {
  span.set({ 'http.response.status_code': status });
  span.end(status >= 500 ? String(status) : undefined);
}
