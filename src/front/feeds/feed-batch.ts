// Pages of the change feed as batches for followers: parsed once, with their places in the log. Invariant: a batch has
// every change between its two places that the page was asked for.

import { type FeedChange, type FeedPlace, isAfter, parseFeedContent } from '../../core/change-feed.ts';
import type { FeedPage, FeedRecord } from '../../shard/shard.ts';
import type { FeedBatch } from '../changes.ts';

/** Of a change, without the characters of its text. */
const CHANGE_BYTES = 700;
const BYTES_PER_CHARACTER = 2;

export interface PlacedBatch extends FeedBatch {
  /** Everything up to here came before. */
  readonly from: FeedPlace;
  /** The place of the cursor. */
  readonly to: FeedPlace;
  /** Memory, roughly. */
  readonly bytes: number;
}

/** Undefined: a kind of change that this version does not know. */
function changeFrom(record: FeedRecord): FeedChange | undefined {
  const change = parseFeedContent(record.change);
  if (change === undefined) return undefined;
  const { seq, index, atMs, actor, requestId, cursor } = record;
  return { seq, index, atMs, actor, requestId, cursor, change };
}

export const changesOf = ({ items }: FeedPage): readonly FeedChange[] =>
  items.map(changeFrom).filter((change) => change !== undefined);

/** `from`: the place at which the page was asked for; undefined: not known, since the page is the first one. */
export function batchOf(page: FeedPage, from: FeedPlace | undefined): PlacedBatch {
  const { items, nextCursor: cursor, next: to, atMs } = page;
  const bytes = items.reduce((sum, { change }) => sum + CHANGE_BYTES + BYTES_PER_CHARACTER * change.length, 0);
  return { changes: changesOf(page), cursor, atMs, from: from ?? { seq: 0, index: -1 }, to, bytes };
}

/** The part of a batch that is after a place within it. The batch itself, which can be shared, if that is all of it. */
export function batchAfter(batch: PlacedBatch, place: FeedPlace): PlacedBatch {
  const [first] = batch.changes;
  if (first === undefined || isAfter(first, place)) return batch;
  return { ...batch, from: place, changes: batch.changes.filter((change) => isAfter(change, place)) };
}
