// One HTTP request through Node's own client: with a given connection and source address, and always with a time limit.

import { type Agent, request } from 'node:http';

const CALL_MS_MAX = 20_000;

export interface Call {
  readonly url: string;
  readonly method?: string;
  /** An API key or the operator's token. */
  readonly key?: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: a connection of its own. */
  readonly agent?: Agent;
  /** A loopback address, if the call must not come from 127.0.0.1. */
  readonly localAddress?: string;
  readonly timeoutMs?: number;
}

export interface CallResponse {
  readonly status: number;
  readonly body: string;
}

/** Rejects if no complete response comes in time. */
export function callOnce(call: Call): Promise<CallResponse> {
  const { url, method = 'GET', key, body, contentType = 'application/json', agent = false, localAddress } = call;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method,
        agent,
        ...(localAddress === undefined ? {} : { localAddress }),
        headers: {
          ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) }),
          ...call.headers,
        },
        signal: AbortSignal.timeout(call.timeoutMs ?? CALL_MS_MAX),
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
        response.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
