// Clients of the change feed for black-box tests: a stream that is read as it comes, or not read at all.

import assert from 'node:assert/strict';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { HttpService } from '../../kit/http-service.ts';
import { waitFor } from '../../kit/wait-for.ts';

export const SSE = 'text/event-stream';
export const NDJSON = 'application/x-ndjson';

export interface ToldChange {
  readonly seq: number;
  readonly index: number;
  readonly action: string;
  readonly at: string;
  readonly actor: string;
  readonly request_id: string;
  readonly grant?: {
    readonly grant_id: string;
    readonly subject: string;
    readonly object: string;
    readonly expires_at: string | null;
  };
  readonly namespace?: { readonly name: string };
  readonly rules?: unknown;
  readonly former?: unknown;
}

export interface StreamOptions {
  readonly key: string;
  readonly query?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What has come of one stream. */
export class ChangeReader {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly events: { readonly type: string; readonly cursor: string; readonly data: unknown }[] = [];
  /** The last hint when to come back, in ms. */
  retryMs: number | undefined;
  text = '';
  ended = false;
  readonly #request: ClientRequest;
  readonly #response: IncomingMessage;

  private constructor(request: ClientRequest, response: IncomingMessage) {
    this.#request = request;
    this.#response = response;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    const take = response.headers['content-type'] === SSE ? this.#eventTaker() : this.#lineTaker();
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      this.text += text;
      if (this.status === 200) take(text);
    });
    const end = (): void => {
      this.ended = true;
    };
    response.on('error', end);
    response.on('close', end);
  }

  static open({ baseUrl }: HttpService, options: StreamOptions): Promise<ChangeReader> {
    const { key, query = '', accept = SSE, headers } = options;
    const { hostname, port } = new URL(baseUrl);
    return new Promise((resolve, reject) => {
      const request = httpRequest({
        hostname,
        port,
        path: `/v1/changes${query}`,
        headers: { authorization: `Bearer ${key}`, accept, ...headers },
        agent: false,
      });
      request.once('response', (response) => resolve(new ChangeReader(request, response)));
      request.once('error', reject);
      request.end();
    });
  }

  #eventTaker(): (text: string) => void {
    const parser = createParser({
      onEvent: ({ event, id, data }: EventSourceMessage) => {
        assert.ok(event !== undefined && id !== undefined, this.text);
        this.events.push({ type: event, cursor: id, data: JSON.parse(data) });
      },
      onRetry: (retryMs: number) => {
        this.retryMs = retryMs;
      },
      onError: (error: Error) => assert.fail(error.message),
    });
    return (text) => parser.feed(text);
  }

  #lineTaker(): (text: string) => void {
    let rest = '';
    return (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const { type, cursor, change, at, seq } = JSON.parse(line);
        this.events.push({ type, cursor, data: change ?? { at, seq } });
      }
    };
  }

  get changes(): readonly ToldChange[] {
    return this.events.filter(({ type }) => type === 'change').map(({ data }) => data as ToldChange);
  }

  get checkpoints(): number {
    return this.events.filter(({ type }) => type === 'checkpoint').length;
  }

  get lastCursor(): string {
    return this.events.at(-1)?.cursor ?? '';
  }

  async until(what: string, condition: () => boolean): Promise<void> {
    await waitFor(what, () => {
      if (!condition() && this.ended) throw new Error(`The stream ended before ${what}: ${this.text.slice(-500)}`);
      return condition();
    });
  }

  untilChanges(count: number): Promise<void> {
    return this.until(`${count} changes`, () => this.changes.length >= count);
  }

  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  close(): void {
    this.#request.destroy();
  }
}
