// The calls by which shards answer reads of a tenant beside its owner: how far the log is, and what came since.

import { assert } from '../../core/assert.ts';
import {
  FOLLOWED_BYTES_MAX,
  type LogPosition,
  type LogPositions,
  NO_POSITIONS,
  USED_KEYS_MAX,
} from '../../shard/shard.ts';
import type { Position__Output } from '../gen/grantd/v1/Position.ts';
import { demand } from '../wire-violation.ts';
import { malformed } from './answer-fields.ts';
import { defineCall } from './define-call.ts';
import { isCount, shortText } from './request-fields.ts';

function positionFrom({ tenantId, epoch, seq, nextBase, nowMs }: Position__Output): LogPosition | undefined {
  return [seq, nextBase, nowMs].every(isCount) ? { tenantId, epoch, seq, nextBase, nowMs } : undefined;
}

/** Those that a message brings for its calls. */
export const positionsFrom = (positions: readonly Position__Output[]): LogPositions => {
  if (positions.length === 0) return NO_POSITIONS;
  const byTenant = new Map<string, LogPosition>();
  for (const each of positions) {
    const position = positionFrom(each);
    demand(position !== undefined, 'A place in a log is out of bounds.');
    byTenant.set(position.tenantId, position);
  }
  return byTenant;
};

export const readerCalls = {
  readPosition: defineCall('readPosition', {
    access: 'peer',
    requestToWire: (request) => request,
    requestFromWire: ({ slot, tenantId }) => ({ slot, tenantId: shortText(tenantId, 'A tenant id') }),
    reply: 'position',
    replyToWire: ({ readers, ...position }) => ({ ...position, toldReaders: readers === undefined ? 0 : readers + 1 }),
    replyFromWire: (answer) => {
      const position = positionFrom(answer);
      if (position === undefined) throw malformed('A place in a log is out of bounds.');
      const { toldReaders } = answer;
      return { ...position, readers: toldReaders === 0 ? undefined : toldReaders - 1 };
    },
  }),

  followTenant: defineCall('followTenant', {
    access: 'shard',
    requestToWire: ({ uses, ...request }) =>
      uses === undefined
        ? request
        : {
            ...request,
            usedKeys: uses.map(({ keyId }) => keyId),
            usedAtMs: uses.map(({ usedAtMs }) => usedAtMs),
          },
    requestFromWire: ({ tenantId, epoch, seq, advance, usedKeys, usedAtMs }) => {
      demand(isCount(seq), 'A place in a log is out of bounds.');
      demand(usedKeys.length === usedAtMs.length, 'Used keys and their times are not as many.');
      demand(usedKeys.length <= USED_KEYS_MAX, 'A reader tells of too many used keys at once.');
      const uses = usedKeys.map((key, index) => {
        const ms = usedAtMs[index] ?? 0;
        demand(isCount(ms), 'The time of a used key is out of bounds.');
        return { keyId: shortText(key, 'A key id'), usedAtMs: ms };
      });
      const request = { tenantId: shortText(tenantId, 'A tenant id'), epoch, seq, advance };
      return uses.length === 0 ? request : { ...request, uses };
    },
    reply: 'tenantCommits',
    replyToWire: (answer) => {
      assert(Buffer.byteLength(answer.commits) <= FOLLOWED_BYTES_MAX, 'the commits of an answer have at most 3 MiB');
      return answer;
    },
    replyFromWire: (answer) => {
      const { epoch, seq, nextBase, nowMs, appliedSeq, commits, more } = answer;
      if (![seq, nextBase, nowMs, appliedSeq].every(isCount)) throw malformed('A place in a log is out of bounds.');
      return { epoch, seq, nextBase, nowMs, appliedSeq, commits, more };
    },
  }),
};
