// A collector of traces in the test's process: takes OTLP over HTTP, decodes it, and keeps every span.

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader';
import { waitFor } from '../../kit/wait-for.ts';

type Value = string | number | boolean;

export interface WireValue {
  readonly key: string;
  readonly value: { readonly value?: string; readonly [kind: string]: Value | undefined };
}

interface WireSpan {
  readonly traceId: Buffer;
  readonly spanId: Buffer;
  readonly traceState: string;
  readonly parentSpanId: Buffer;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: number;
  readonly endTimeUnixNano: number;
  readonly attributes: readonly WireValue[];
  readonly links: readonly { readonly traceId: Buffer; readonly spanId: Buffer }[];
  readonly status: { readonly code: number } | null;
}

interface WireRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly WireValue[] } | null;
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: a root. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | undefined;
  readonly attributes: Readonly<Record<string, Value>>;
  /** Ids of spans. */
  readonly links: readonly string[];
  readonly failed: boolean;
  readonly startNs: number;
  readonly endNs: number;
  /** What describes the process that it comes from. */
  readonly resource: Readonly<Record<string, Value>>;
}

const KINDS: Readonly<Record<number, ReceivedSpan['kind']>> = { 1: 'internal', 2: 'server', 3: 'client' };

/** What reads a request to this service of otlp.proto. */
export function decoderOf<Request>(service: string, longs: typeof Number | typeof String): (bytes: Buffer) => Request {
  const options = { longs, defaults: true, arrays: true, oneofs: true };
  const definition = loadSync(fileURLToPath(new URL('otlp.proto', import.meta.url)), options);
  return (definition[service] as ServiceDefinition).Export?.requestDeserialize as (bytes: Buffer) => Request;
}
const decode = decoderOf<WireRequest>('otlp.Traces', Number);

export const valuesOf = (pairs: readonly WireValue[]): Record<string, Value> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, value[value.value ?? ''] ?? '']));

function spansOf(body: Buffer): ReceivedSpan[] {
  return decode(body).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        traceId: span.traceId.toString('hex'),
        spanId: span.spanId.toString('hex'),
        parentSpanId: span.parentSpanId.toString('hex'),
        traceState: span.traceState,
        name: span.name,
        kind: KINDS[span.kind],
        attributes: valuesOf(span.attributes),
        links: span.links.map(({ spanId }) => spanId.toString('hex')),
        failed: span.status?.code === 2,
        startNs: span.startTimeUnixNano,
        endNs: span.endTimeUnixNano,
        resource: valuesOf(resource?.attributes ?? []),
      })),
  );
}

export interface OtlpReceiver {
  /** Where traces are to be sent. */
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Of each request. */
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** As text: everything that was received. */
  text(): string;
  /** The spans of a trace, once all of them are there. */
  trace(traceId: string, count: number): Promise<readonly ReceivedSpan[]>;
  close(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    requests.push({ path: request.url ?? '', headers: request.headers });
    bodies.push(body);
    spans.push(...spansOf(body));
    response.writeHead(200, { 'Content-Type': 'application/x-protobuf' });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    requests,
    text: () => Buffer.concat(bodies).toString('latin1'),
    async trace(traceId, count) {
      const found = () => spans.filter((span) => span.traceId === traceId);
      const names = () =>
        found()
          .map(({ name }) => name)
          .join(', ');
      await waitFor(`${count} spans of a trace`, () => found().length >= count, 10_000, names);
      return found();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
