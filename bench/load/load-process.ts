// The process that generates the load, separate from the measured service and from the benchmark itself. One job at a
// time.

import { percentile } from '../statistics.ts';
import { Connection } from './connection.ts';
import type { FromLoadProcess, LoadJob, LoadResult, PreparedRequest } from './load-job.ts';

/** How long to wait for responses still in flight at the end. */
const REST_MS_MAX = 15_000;

function requestText(
  { method = 'POST', ...job }: LoadJob,
  host: string,
  { body, key = job.key, path = job.path }: PreparedRequest,
): string {
  const ofBody =
    method === 'GET' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  return [`${method} ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${key}`, ...ofBody, '', body].join(
    '\r\n',
  );
}

class Load {
  readonly #job: LoadJob;
  readonly #texts: readonly string[];
  readonly #connections: Connection[] = [];
  /** By URL, so that all get the same load. */
  readonly #idle: Connection[][] = [];
  /** When requests were due while no connection was free; consumed from `#backlogStart` on. */
  readonly #backlog: number[] = [];
  #backlogStart = 0;
  readonly #latenciesMs: number[] = [];
  #sent = 0;
  #inFlight = 0;
  #wrong = 0;
  #firstWrong: string | undefined;
  #startMs = 0;
  #endMs = Number.POSITIVE_INFINITY;
  #lastAnswerMs = 0;
  #dueCount = 0;
  readonly #nobodyWakes = new Int32Array(new SharedArrayBuffer(4));
  readonly #done = Promise.withResolvers<LoadResult>();

  constructor(job: LoadJob) {
    this.#job = job;
    const { host } = new URL(job.url);
    this.#texts = job.requests.map((request) => requestText(job, host, request));
  }

  run(): Promise<LoadResult> {
    const { url, furtherUrls = [], connections } = this.#job;
    const places = [url, ...furtherUrls].map((each) => new URL(each));
    let opened = 0;
    for (let index = 0; index < connections; index += 1) {
      const place = index % places.length;
      const { hostname = '', port = '' } = places[place] ?? {};
      const connection = new Connection(
        { host: hostname, port: Number(port) },
        {
          onOpen: () => {
            opened += 1;
            if (opened === connections) this.#start();
          },
          onAnswer: (answered, status, body) => this.#onAnswer(answered, status, body),
          onError: (error) => this.#done.reject(error),
        },
      );
      connection.place = place;
      this.#connections.push(connection);
    }
    return this.#done.promise.finally(() => {
      for (const connection of this.#connections) connection.destroy();
    });
  }

  #start(): void {
    const { mode } = this.#job;
    this.#startMs = performance.now();
    this.#lastAnswerMs = this.#startMs;
    if (mode.kind !== 'each-once') this.#endMs = this.#startMs + mode.durationMs;
    if (mode.kind === 'rate') {
      for (const connection of this.#connections) this.#rest(connection);
      this.#pace(1000 / mode.perSecond, mode.restMs ?? 0);
      return;
    }
    for (const connection of this.#connections) this.#sendNext(connection);
  }

  /** Polls instead of sleeping: millisecond timers would send in bursts and add to every latency. */
  #pace(intervalMs: number, restMs: number): void {
    const nowMs = performance.now();
    for (;;) {
      const dueMs = this.#startMs + this.#dueCount * intervalMs;
      if (dueMs > nowMs || dueMs >= this.#endMs) break;
      this.#dueCount += 1;
      const connection = this.#takeIdle();
      if (connection === undefined) this.#backlog.push(dueMs);
      else this.#send(connection, dueMs);
    }
    if (restMs > 0) Atomics.wait(this.#nobodyWakes, 0, 0, restMs);
    if (nowMs < this.#endMs) setImmediate(() => this.#pace(intervalMs, restMs));
    else if (this.#inFlight === 0) this.#finish();
    else setTimeout(() => this.#done.reject(new Error('Some answers did not come.')), REST_MS_MAX).unref();
  }

  #rest(connection: Connection): void {
    this.#idle[connection.place] ??= [];
    this.#idle[connection.place]?.push(connection);
  }

  #takeIdle(): Connection | undefined {
    const places = this.#idle.length;
    for (let turn = 0; turn < places; turn += 1) {
      const connection = this.#idle[(this.#dueCount + turn) % places]?.pop();
      if (connection !== undefined) return connection;
    }
    return undefined;
  }

  #send(connection: Connection, dueMs: number): void {
    connection.request = this.#sent % this.#texts.length;
    connection.dueMs = dueMs;
    this.#sent += 1;
    this.#inFlight += 1;
    connection.send(this.#texts[connection.request] ?? '');
  }

  #sendNext(connection: Connection): void {
    const nowMs = performance.now();
    const { kind } = this.#job.mode;
    if (kind === 'rate') {
      const dueMs = this.#backlog[this.#backlogStart];
      if (dueMs === undefined) this.#rest(connection);
      else {
        this.#backlogStart += 1;
        this.#send(connection, dueMs);
      }
    } else if (nowMs < this.#endMs && (kind === 'saturate' || this.#sent < this.#texts.length)) {
      this.#send(connection, nowMs);
    }
    if (this.#inFlight === 0 && (kind !== 'rate' || nowMs >= this.#endMs)) this.#finish();
  }

  #onAnswer(connection: Connection, status: number, body: string): void {
    this.#lastAnswerMs = performance.now();
    this.#latenciesMs.push(this.#lastAnswerMs - connection.dueMs);
    this.#inFlight -= 1;
    const request = this.#job.requests[connection.request];
    if (status !== this.#job.expectedStatus || !body.startsWith(request?.expectedStart ?? '')) {
      this.#wrong += 1;
      this.#firstWrong ??= `${status} ${body.slice(0, 300)} to ${(request?.path ?? '') + (request?.body.slice(0, 300) ?? '')}`;
    }
    this.#sendNext(connection);
  }

  #finish(): void {
    const ascending = Float64Array.from(this.#latenciesMs).sort();
    this.#done.resolve({
      answered: ascending.length - this.#wrong,
      wrong: this.#wrong,
      firstWrong: this.#firstWrong,
      seconds: (this.#lastAnswerMs - this.#startMs) / 1000,
      latencyMs: {
        p50: percentile(ascending, 0.5),
        p99: percentile(ascending, 0.99),
        max: percentile(ascending, 1),
      },
      bytes: {
        sent: this.#connections.reduce((sum, { sentBytes }) => sum + sentBytes, 0),
        received: this.#connections.reduce((sum, { receivedBytes }) => sum + receivedBytes, 0),
      },
    });
  }
}

const reply = (message: FromLoadProcess): void => {
  process.send?.(message);
};

process.on('message', (job: LoadJob) => {
  new Load(job).run().then(
    (result) => reply({ kind: 'done', result }),
    (error: unknown) => reply({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
  );
});
process.on('disconnect', () => process.exit());
