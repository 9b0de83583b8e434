// The span of a request to one of the HTTP interfaces, by the conventions of OpenTelemetry
// (https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-server). The path is the route, and there is no
// query: both of the request itself may name a subject, an object or a key. Nor does it say who the client is.

import type { TraceSpan, Tracing } from './spans.ts';

/** Those that RFC 9110 and RFC 5789 define. */
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
  /** Told when the client goes away before its answer. */
  onceClosed(listener: () => void): void;
}

const textOf = (header: Header): string | undefined => (typeof header === 'object' ? header.join(',') : header);

export interface RequestFacts {
  /** The path with the names of its parameters; undefined: nothing is there. */
  readonly route: string | undefined;
  readonly requestId: string;
  /** Since the request began: its key was verified meanwhile. */
  readonly elapsedMs: number;
}

/** Called for callers who are authenticated only: to anybody else a header must not have said that we record. */
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
  // A client that goes away in the middle of its request gets no answer that could end it.
  if (span !== undefined) request.onceClosed(() => span.end('client-closed'));
  return span;
}

/** What the client got wrong is no failure of this server. */
export function endRequestSpan(span: TraceSpan, status: number): void {
  span.set({ 'http.response.status_code': status });
  span.end(status >= 500 ? String(status) : undefined);
}
