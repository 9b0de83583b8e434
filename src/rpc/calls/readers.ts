// The calls by which shards answer reads of a tenant beside its owner: how far the log is, and what came since.

import { assert } from '../../core/assert.ts';
import {
  FOLLOWED_BYTES_MAX,
  type FollowAnswer,
  type LogPositions,
  NO_POSITIONS,
  USED_KEYS_MAX,
} from '../../shard/shard.ts';
import type { ReceivedPosition } from '../messages.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import { shortText } from './fields.ts';
import * as s from './schema.ts';

const positionFields = { tenantId: s.text, epoch: s.uint32, seq: s.count, nextBase: s.count, nowMs: s.count };
const position = s.message(positionFields);

/** Those that a message brings for its calls. */
export const positionsFrom = (positions: readonly ReceivedPosition[]): LogPositions =>
  positions.length === 0
    ? NO_POSITIONS
    : new Map(positions.map((each) => [each.tenantId, position.read(each, 'position')]));

export const readerCalls = {
  readPosition: defineCall('readPosition', {
    access: 'peer',
    request: s.message({ slot: s.uint32, tenantId: shortText }),
    reply: 'position',
    answer: s.message({
      ...positionFields,
      readers: s.as(
        'toldReaders',
        s.converted(
          s.uint32,
          (readers: number | undefined) => (readers === undefined ? 0 : readers + 1),
          (told) => (told === 0 ? undefined : told - 1),
        ),
      ),
      quietMs: s.uint32,
    }),
  }),

  followTenant: defineCall('followTenant', {
    access: 'shard',
    request: s.messageOf(
      {
        tenantId: shortText,
        epoch: s.uint32,
        seq: s.count,
        advance: s.flag,
        usedKeys: s.sparse(s.list(shortText, { max: USED_KEYS_MAX })),
        usedAtMs: s.sparse(s.list(s.count)),
      },
      ({ uses, ...request }) => ({
        ...request,
        usedKeys: uses?.map(({ keyId }) => keyId),
        usedAtMs: uses?.map((use) => use.usedAtMs),
      }),
      ({ usedKeys = [], usedAtMs = [], ...request }) => {
        demand(usedKeys.length === usedAtMs.length, 'Used keys and their times are not as many.');
        if (usedKeys.length === 0) return request;
        return { ...request, uses: usedKeys.map((keyId, index) => ({ keyId, usedAtMs: usedAtMs[index] ?? 0 })) };
      },
    ),
    reply: 'tenantCommits',
    answer: s.message<FollowAnswer>({
      epoch: s.uint32,
      seq: s.count,
      nextBase: s.count,
      nowMs: s.count,
      appliedSeq: s.count,
      commits: s.converted(
        s.text,
        (commits: string) => {
          assert(Buffer.byteLength(commits) <= FOLLOWED_BYTES_MAX, 'the commits of an answer have at most 3 MiB');
          return commits;
        },
        (commits) => commits,
      ),
      more: s.flag,
      uncollectedMs: s.sparse(s.count),
    }),
  }),
};
