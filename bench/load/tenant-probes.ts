// Checks of several tenants at a steady pace, each tenant over one connection: the next check waits for the response to
// the one before, so an owner that has gone holds up one check of each of its tenants. Every response is compared with
// the known right one; only a 503 may come instead, and does not count as a response.

import { percentile } from '../statistics.ts';
import { Connection } from './connection.ts';
import type { PreparedRequest } from './load-job.ts';

export interface ProbedTenant {
  readonly url: string;
  readonly key: string;
  readonly requests: readonly PreparedRequest[];
}

/** A check that was answered, on the clock of this process. */
export interface Sample {
  readonly tenant: number;
  readonly sentMs: number;
  readonly answeredMs: number;
}

/** In ms. */
export function latenciesOf(samples: readonly Sample[]): { readonly p50: number; readonly p99: number } {
  const ascending = Float64Array.from(samples, ({ sentMs, answeredMs }) => answeredMs - sentMs).sort();
  return { p50: percentile(ascending, 0.5), p99: percentile(ascending, 0.99) };
}

const HTTP_OK = 200;
const HTTP_UNAVAILABLE = 503;

export class TenantProbes {
  readonly samples: Sample[] = [];
  /** Checks that got a 503. */
  unavailable = 0;
  readonly #tenants: readonly ProbedTenant[];
  readonly #texts: readonly (readonly string[])[];
  readonly #intervalMs: number;
  readonly #connections: Connection[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  #stopped = false;
  #failure: Error | undefined;

  /** Begins at once; `intervalMs`: between two checks of a tenant. */
  constructor(tenants: readonly ProbedTenant[], intervalMs: number) {
    this.#tenants = tenants;
    this.#intervalMs = intervalMs;
    this.#texts = tenants.map(({ url, key, requests }) => requests.map(({ body }) => textOf(url, key, body)));
    for (const [index, { url }] of tenants.entries()) this.#open(index, new URL(url));
  }

  /** Throws what has gone wrong so far. */
  assertRight(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const connection of this.#connections) connection.destroy();
  }

  #open(index: number, { hostname, port }: URL): void {
    const connection = new Connection(
      { host: hostname, port: Number(port) },
      {
        onOpen: (opened) => this.#send(opened),
        onAnswer: (answered, status, body) => this.#take(answered, status, body),
        onError: (error) => this.#fail(error),
      },
    );
    connection.place = index;
    this.#connections.push(connection);
  }

  #send(connection: Connection): void {
    const texts = this.#texts[connection.place] ?? [];
    connection.dueMs = performance.now();
    connection.send(texts[connection.request % texts.length] ?? '');
  }

  #take(connection: Connection, status: number, body: string): void {
    const answeredMs = performance.now();
    const { place: tenant, dueMs: sentMs } = connection;
    const requests = this.#tenants[tenant]?.requests ?? [];
    const expected = requests[connection.request % requests.length]?.expectedStart ?? '';
    if (status === HTTP_OK && body.startsWith(expected)) this.samples.push({ tenant, sentMs, answeredMs });
    else if (status === HTTP_UNAVAILABLE) this.unavailable += 1;
    else this.#fail(new Error(`A wrong answer: ${status} ${body.slice(0, 300)}`));
    connection.request += 1;
    if (this.#stopped) return;
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        this.#send(connection);
      },
      Math.max(0, sentMs + this.#intervalMs - answeredMs),
    );
    this.#timers.add(timer);
  }

  #fail(error: Error): void {
    if (!this.#stopped) this.#failure ??= error;
  }
}

function textOf(url: string, key: string, body: string): string {
  return [
    'POST /v1/check HTTP/1.1',
    `Host: ${new URL(url).host}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}
