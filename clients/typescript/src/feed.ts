// The change feed as one endless iteration, despite interruptions. Invariant: no change is missed or repeated, since
// the feed resumes at the last cursor and drops changes up to the last one.

import type { Deadline } from './deadline.ts';
import { GrantdError, located } from './error.ts';
import type { Change } from './generated/schemas.ts';
import { parsedText } from './json.ts';
import type { Page } from './listing.ts';
import { type KnownOf, knownMembers, membersOf } from './members.ts';
import { listParameter } from './outgoing.ts';
import { errorOf, invalidResponse, mediaTypeOf, refuseCoding, requestIdOf } from './responses.ts';
import { checkChange, Field } from './shapes.ts';
import { type Call, type CallOptions, connectionError, type Transport } from './transport.ts';

export interface ChangesQuery {
  /** Only changes after it. */
  readonly cursor?: string | undefined;
  /** Only changes since this time (ISO 8601), or from `now` on. Not with `cursor`. */
  readonly since?: string | undefined;
  /** Only of these, separated by commas. */
  readonly namespace?: string | undefined;
  /** Only of these, separated by commas. */
  readonly relation?: string | undefined;
  /** Only of these relations on objects of these namespaces, each as `namespace:relation`. Without the two above. */
  readonly on?: readonly string[] | undefined;
  /** Separated by commas. */
  readonly action?: string | undefined;
}

export interface FeedChange {
  readonly change: Change;
  /** Resumes after this change: store it together with the effects of the change. */
  readonly cursor: string;
}

export interface FeedCheckpoint {
  readonly change?: undefined;
  /** Resumes after everything up to here. */
  readonly cursor: string;
  /** Every change of the entries up to this one that passes the filter has been delivered: none is half delivered. */
  readonly seq: number;
}

export interface ChangePage extends Page<Change> {
  readonly cursor: string;
  /** As that of a checkpoint. */
  readonly seq: number;
}

export interface ChangePageQuery {
  /** In place of that of the query. */
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  /** For how many seconds a page without a change waits for one. */
  readonly wait?: number | undefined;
}

const QUERY: KnownOf<ChangesQuery> = {
  cursor: true,
  since: true,
  namespace: true,
  relation: true,
  on: true,
  action: true,
};
const PAGE: KnownOf<ChangePageQuery> = { cursor: true, limit: true, wait: true };

/** More than two sets of rules, the longest that a change carries. */
const LINE_LENGTH_MAX = 1 << 20;

const STREAM = {
  operation: 'listChanges',
  method: 'GET',
  path: '/v1/changes',
  headers: { accept: 'application/x-ndjson' },
} as const;

type Line = FeedChange | FeedCheckpoint;

const isBehind = (change: Change, last: Change | undefined): boolean =>
  last === undefined || change.seq > last.seq || (change.seq === last.seq && change.index > last.index);

interface LineSource {
  readonly requestId: string | undefined;
  readonly request: string;
  /** Whether somebody wants checkpoints. Those of version 0.2 have no `seq`. */
  readonly marked: boolean;
}

function lineOf(text: string, { marked, requestId, request }: LineSource): Line | undefined {
  const source = { status: 200, requestId, request };
  const value = parsedText(text);
  if (value === undefined) throw invalidResponse(200, 'A line of the feed is not JSON.', requestId, true);
  const line = new Field(value, 'a line', source);
  const type = line.at('type').text();
  if (type !== 'change' && type !== 'checkpoint') return undefined;
  const cursor = line.at('cursor').cursor();
  return type === 'change'
    ? { change: line.at('change').checked<Change>(checkChange), cursor }
    : { cursor, seq: marked ? line.at('seq').count() : 0 };
}

/** The lines of a stream, each as soon as it is complete. An incomplete last line is dropped. */
async function* linesOf(
  body: ReadableStream<Uint8Array>,
  unlessSilent: () => Deadline,
): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let rest = '';
  // Bytes that never end a line are silence, too.
  let silence = unlessSilent();
  try {
    for (;;) {
      const { done, value } = await silence.bound(reader.read());
      if (done) return;
      const parts = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      if (rest.length > LINE_LENGTH_MAX) throw invalidResponse(200, 'A line of the feed does not end.');
      if (parts.length === 0) continue;
      silence.close();
      yield* parts;
      silence = unlessSilent();
    }
  } finally {
    silence.close();
    reader.cancel().catch(() => {});
  }
}

interface FeedPlace {
  cursor: string | undefined;
  last: Change | undefined;
}

export class Changes implements AsyncIterable<FeedChange> {
  readonly #transport: Transport;
  readonly #query: NonNullable<Call['query']>;
  readonly #options: CallOptions;
  readonly #silenceMs: number;

  constructor(transport: Transport, query: ChangesQuery, options: CallOptions, silenceMs: number) {
    this.#transport = transport;
    const { on, ...known } = knownMembers(query, QUERY);
    this.#query = { ...known, on: listParameter(on, 'on') };
    this.#options = membersOf(options);
    this.#silenceMs = silenceMs;
  }

  /** One page, after its cursor if it has one. It always has a cursor to continue from, also at the end. */
  async page(query: ChangePageQuery = {}, options: CallOptions = {}): Promise<ChangePage> {
    const { cursor, limit, wait } = knownMembers(query, PAGE);
    const place = cursor === undefined ? {} : { cursor, since: undefined };
    // The service may use the whole wait before it responds.
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? this.#transport.timeoutMs;
    const reply = await this.#transport.send(
      {
        operation: 'listChanges',
        method: 'GET',
        path: '/v1/changes',
        query: { ...this.#query, ...place, limit, wait },
        expected: [200],
      },
      { ...this.#options, ...membersOf(options), timeoutMs: timeoutMs + (wait ?? 0) * 1000 },
    );
    const body = Field.of(reply);
    const items = body
      .at('changes')
      .list()
      .map((each) => each.checked<Change>(checkChange));
    return { items, cursor: body.at('next_cursor').cursor(), seq: body.at('seq').count() };
  }

  /** Ends only when the caller breaks off, at an error that a retry cannot resolve, or with the signal. */
  async *[Symbol.asyncIterator](): AsyncGenerator<FeedChange, void, undefined> {
    for await (const line of this.#lines({})) if (line.change !== undefined) yield line;
  }

  /** The same, with a checkpoint after each batch of changes, and every few seconds without one. */
  withCheckpoints(): AsyncGenerator<FeedChange | FeedCheckpoint, void, undefined> {
    return this.#lines({ checkpoints: 'batch' });
  }

  async *#lines(marks: { readonly checkpoints?: 'batch' }): AsyncGenerator<Line, void, undefined> {
    const { cursor } = this.#query;
    const state: FeedPlace = { cursor: cursor === undefined ? undefined : String(cursor), last: undefined };
    let failures = 0;
    for (;;) {
      let failure = new GrantdError('connection-lost', 0, 'The stream has ended.');
      try {
        if (state.cursor === undefined && this.#query.since === 'now') yield* this.#fromNow(state);
        for await (const line of this.#follow({ ...marks, cursor: state.cursor }, failures + 1)) {
          failures = 0;
          state.cursor = line.cursor;
          if (line.change !== undefined) {
            if (!isBehind(line.change, state.last)) continue;
            state.last = line.change;
          }
          yield line;
        }
      } catch (error) {
        failure = located(connectionError(error), this.#transport.requestOf(STREAM));
        if (!failure.retryable) throw failure;
      }
      failures += 1;
      await this.#transport.pause(this.#transport.retryWaitMs(failures, failure), this.#options);
    }
  }

  /** The word `now` would be another moment after an interruption: a page turns it into a cursor. */
  async *#fromNow(state: FeedPlace): AsyncGenerator<Line, void> {
    const { items, cursor, seq } = await this.page({ limit: 1 });
    state.cursor = cursor;
    for (const change of items) {
      state.last = change;
      yield { change, cursor };
    }
    yield { cursor, seq };
  }

  async *#follow(from: NonNullable<Call['query']>, attempt: number): AsyncGenerator<Line, void, undefined> {
    const place = from.cursor === undefined ? from : { ...from, since: undefined };
    const deadline = this.#transport.deadline(this.#options);
    const startMs = performance.now();
    let response: Response;
    try {
      response = await this.#transport.request({ ...STREAM, query: { ...this.#query, ...place } }, deadline);
      if (response.status !== 200) throw await deadline.bound(errorOf(response));
      this.#transport.log(STREAM, attempt, startMs, response);
    } catch (error) {
      this.#transport.log(STREAM, attempt, startMs, connectionError(error));
      throw error;
    } finally {
      deadline.close();
    }
    const requestId = requestIdOf(response.headers);
    refuseCoding(response, requestId);
    if (mediaTypeOf(response.headers) !== 'application/x-ndjson' || response.body === null) {
      throw invalidResponse(200, 'The response is not a stream of JSON lines.', requestId);
    }
    const unlessSilent = () => this.#transport.deadline({ timeoutMs: this.#silenceMs, signal: this.#options.signal });
    const marked = from.checkpoints !== undefined;
    const source = { requestId, request: this.#transport.requestOf(STREAM), marked };
    for await (const text of linesOf(response.body, unlessSilent)) {
      const line = text === '' ? undefined : lineOf(text, source);
      if (line !== undefined) yield line;
    }
  }
}
