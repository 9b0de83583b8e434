// The formats of streams of changes: server-sent events, or lines of JSON
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). Invariant: streams with the same format and filter
// share the bytes of a batch, which are encoded once.

import { changeJson, type FeedChange, type FeedFilter, feedMatcher } from '../../core/change-feed.ts';
import { formatTimestamp } from '../../core/text/timestamps.ts';
import type { FeedBatch } from '../../front/changes.ts';
import { type StreamPart, streamPart } from '../wire/response-stream.ts';
import { PART_LENGTH } from './stream-limits.ts';

export type StreamFormat = 'ndjson' | 'sse';

/** Format and filter: streams of one channel send the same bytes. */
export interface Channel {
  readonly format: StreamFormat;
  readonly key: string;
  /** Undefined: everything. */
  readonly matches: ((change: FeedChange) => boolean) | undefined;
}

export function channelOf(format: StreamFormat, filter: FeedFilter): Channel {
  const { namespaces, relations, on, actions } = filter;
  const lists = [namespaces, relations, on, actions].map((list) => (list === undefined ? null : [...list].sort()));
  const key = JSON.stringify([format, ...lists]);
  return { format, key, matches: feedMatcher(filter) };
}

/** A position up to which a stream is complete, its last whole entry, and the owner's time at that position. */
export class Mark {
  readonly cursor: string;
  readonly seq: number;
  readonly atMs: number;
  readonly #checkpoints: Partial<Record<StreamFormat, StreamPart>> = {};

  constructor({ cursor, seq, atMs }: FeedBatch) {
    this.cursor = cursor;
    this.seq = seq;
    this.atMs = atMs;
  }

  checkpoint(format: StreamFormat): StreamPart {
    this.#checkpoints[format] ??= streamPart(checkpointText(format, this));
    return this.#checkpoints[format];
  }
}

/** A batch as the streams of one channel get it. */
export interface EncodedBatch {
  readonly mark: Mark;
  /** None: nothing of the batch passes the filter. */
  readonly parts: readonly StreamPart[];
  readonly bytes: number;
  readonly changes: number;
  /** Streams that have not sent all of it. */
  holders: number;
}

const changeText = (format: StreamFormat, cursor: string, json: string): string =>
  format === 'sse'
    ? `event: change\nid: ${cursor}\ndata: ${json}\n\n`
    : `{"type":"change","cursor":"${cursor}","change":${json}}\n`;

function checkpointText(format: StreamFormat, { cursor, seq, atMs }: Mark): string {
  const members = `"at":"${formatTimestamp(atMs)}","seq":${seq}}`;
  return format === 'sse'
    ? `event: checkpoint\nid: ${cursor}\ndata: {${members}\n\n`
    : `{"type":"checkpoint","cursor":"${cursor}",${members}\n`;
}

/** How long a client should wait before it reconnects; lines of JSON have no such field. */
export const retryPart = (format: StreamFormat, retryMs: number): StreamPart | undefined =>
  format === 'sse' ? streamPart(`retry: ${retryMs}\n\n`) : undefined;

/** The encodings of one batch so far. */
interface Encodings {
  readonly mark: Mark;
  /** The JSON of its changes that passed any filter. */
  readonly json: string[];
  readonly byChannel: Map<string, EncodedBatch>;
}

export class BatchEncoder {
  readonly #encodings = new WeakMap<FeedBatch, Encodings>();

  encode(batch: FeedBatch, channel: Channel): EncodedBatch {
    let encodings = this.#encodings.get(batch);
    if (encodings === undefined) {
      encodings = { mark: new Mark(batch), json: [], byChannel: new Map() };
      this.#encodings.set(batch, encodings);
    }
    let encoded = encodings.byChannel.get(channel.key);
    if (encoded === undefined) {
      encoded = this.#encode(batch, channel, encodings);
      encodings.byChannel.set(channel.key, encoded);
    }
    return encoded;
  }

  #encode({ changes }: FeedBatch, { format, matches }: Channel, { mark, json }: Encodings): EncodedBatch {
    const parts: StreamPart[] = [];
    let text = '';
    let count = 0;
    for (const [index, change] of changes.entries()) {
      if (matches !== undefined && !matches(change)) continue;
      json[index] ??= changeJson(change);
      const next = changeText(format, change.cursor, json[index]);
      if (text !== '' && text.length + next.length > PART_LENGTH) {
        parts.push(streamPart(text));
        text = '';
      }
      text += next;
      count += 1;
    }
    if (text !== '') parts.push(streamPart(text));
    const bytes = parts.reduce((sum, { chunk }) => sum + chunk.length, 0);
    return { mark, parts, bytes, changes: count, holders: 0 };
  }
}
