// Tracing with OpenTelemetry: a span for each call, and its context in the headers of the request.

import { context, propagation, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { GrantdError } from './error.ts';
import type { CallHook } from './transport.ts';

/** For the option `hook`. Without a tracer, that of the global provider. */
export function tracing(tracer: Tracer = trace.getTracer('@grantd/client')): CallHook {
  return (call, run) => {
    const { hostname, port, protocol } = new URL(call.url);
    const attributes = {
      'grantd.operation': call.operation,
      'http.request.method': call.method,
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
    };
    return tracer.startActiveSpan(`grantd ${call.operation}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      const headers: Record<string, string> = {};
      propagation.inject(context.active(), headers);
      try {
        return await run(headers);
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        span.setAttribute('error.type', error instanceof GrantdError ? error.type : '_OTHER');
        throw error;
      } finally {
        if (call.status !== undefined && call.status > 0) span.setAttribute('http.response.status_code', call.status);
        if (call.requestId !== undefined) span.setAttribute('grantd.request_id', call.requestId);
        if (call.attempts > 1) span.setAttribute('http.request.resend_count', call.attempts - 1);
        span.end();
      }
    });
  };
}
