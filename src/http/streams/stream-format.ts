// What a stream of changes looks like: server-sent events, or lines of JSON
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). Invariant: streams with the same format and filter
// share the bytes of a batch, which are encoded once.

import { changeJson, type FeedChange, type FeedFilter, feedMatcher } from '../../core/change-feed.ts';
import { formatTimestamp } from '../../core/text/timestamps.ts';
import type { FeedBatch } from '../../front/changes.ts';
import { type StreamPart, streamPart } from '../wire/response-stream.ts';
import { PART_LENGTH } from './stream-limits.ts';

export type StreamFormat = 'ndjson' | 'sse';

/** What streams have in common that get the same bytes. */
export interface Channel {
  readonly format: StreamFormat;
  readonly key: string;
  /** Undefined: everything. */
  readonly matches: ((change: FeedChange) => boolean) | undefined;
}

export function channelOf(format: StreamFormat, filter: FeedFilter): Channel {
  const { namespace, relation, actions } = filter;
  const key = JSON.stringify([
    format,
    namespace ?? null,
    relation ?? null,
    actions === undefined ? null : [...actions].sort(),
  ]);
  return { format, key, matches: feedMatcher(filter) };
}

/** Up to where a stream has told everything, and when the owner said so. */
export class Mark {
  readonly cursor: string;
  readonly atMs: number;
  readonly #checkpoints: Partial<Record<StreamFormat, StreamPart>> = {};

  constructor({ cursor, atMs }: FeedBatch) {
    this.cursor = cursor;
    this.atMs = atMs;
  }

  checkpoint(format: StreamFormat): StreamPart {
    this.#checkpoints[format] ??= streamPart(checkpointText(format, this.cursor, formatTimestamp(this.atMs)));
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

const checkpointText = (format: StreamFormat, cursor: string, at: string): string =>
  format === 'sse'
    ? `event: checkpoint\nid: ${cursor}\ndata: {"at":"${at}"}\n\n`
    : `{"type":"checkpoint","cursor":"${cursor}","at":"${at}"}\n`;

/** Tells a client when to come back; lines of JSON have no word for that. */
export const retryPart = (format: StreamFormat, retryMs: number): StreamPart | undefined =>
  format === 'sse' ? streamPart(`retry: ${retryMs}\n\n`) : undefined;

/** What has been made of one batch. */
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
