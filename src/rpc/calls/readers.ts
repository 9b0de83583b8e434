// The calls by which shards answer reads of a tenant beside its owner: how far the log is, and what came since.

import { assert } from '../../core/assert.ts';
import {
  FOLLOWED_BYTES_MAX,
  type FollowAnswer,
  type FollowRequest,
  type LogPosition,
  type LogPositions,
  NO_POSITIONS,
  type ReaderPosition,
  USED_KEYS_MAX,
} from '../../shard/shard.ts';
import type { ReceivedPosition } from '../messages.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import { shortText } from './fields.ts';
import { as, converted, count, flag, list, message, sparse, text, uint32 } from './schema.ts';

const positionFields = { tenantId: text, epoch: uint32, seq: count, nextBase: count, nowMs: count };
const position = message<LogPosition>(positionFields);

/** Those that a message brings for its calls. */
export const positionsFrom = (positions: readonly ReceivedPosition[]): LogPositions =>
  positions.length === 0
    ? NO_POSITIONS
    : new Map(positions.map((each) => [each.tenantId, position.read(each, 'position')]));

type WireFollow = Omit<FollowRequest, 'uses'> & {
  readonly usedKeys?: readonly string[] | undefined;
  readonly usedAtMs?: readonly number[] | undefined;
};

const followRequest = converted(
  message<WireFollow>({
    tenantId: shortText,
    epoch: uint32,
    seq: count,
    advance: flag,
    usedKeys: sparse(list(shortText, { max: USED_KEYS_MAX })),
    usedAtMs: sparse(list(count)),
  }),
  ({ uses, ...request }: FollowRequest) => ({
    ...request,
    usedKeys: uses?.map(({ keyId }) => keyId),
    usedAtMs: uses?.map((use) => use.usedAtMs),
  }),
  ({ usedKeys = [], usedAtMs = [], ...request }) => {
    demand(usedKeys.length === usedAtMs.length, 'Used keys and their times are not as many.');
    if (usedKeys.length === 0) return request;
    return { ...request, uses: usedKeys.map((keyId, index) => ({ keyId, usedAtMs: usedAtMs[index] ?? 0 })) };
  },
);

export const readerCalls = {
  readPosition: defineCall('readPosition', {
    access: 'peer',
    request: message({ slot: uint32, tenantId: shortText }),
    reply: 'position',
    answer: message<ReaderPosition>({
      ...positionFields,
      readers: as(
        'toldReaders',
        converted(
          uint32,
          (readers: number | undefined) => (readers === undefined ? 0 : readers + 1),
          (told) => (told === 0 ? undefined : told - 1),
        ),
      ),
    }),
  }),

  followTenant: defineCall('followTenant', {
    access: 'shard',
    request: followRequest,
    reply: 'tenantCommits',
    answer: message<FollowAnswer>({
      epoch: uint32,
      seq: count,
      nextBase: count,
      nowMs: count,
      appliedSeq: count,
      commits: converted(
        text,
        (commits: string) => {
          assert(Buffer.byteLength(commits) <= FOLLOWED_BYTES_MAX, 'the commits of an answer have at most 3 MiB');
          return commits;
        },
        (commits) => commits,
      ),
      more: flag,
    }),
  }),
};
