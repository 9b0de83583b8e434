// The call of another shard, which answers reads of a tenant beside its owner: where the log is, and what it has since.

import { assert } from '../../core/assert.ts';
import { FOLLOWED_BYTES_MAX } from '../../shard/shard.ts';
import { demand } from '../wire-violation.ts';
import { malformed } from './answer-fields.ts';
import { defineCall } from './define-call.ts';
import { isCount, shortText } from './request-fields.ts';

export const readerCalls = {
  followTenant: defineCall('followTenant', {
    access: 'shard',
    requestToWire: (request) => request,
    requestFromWire: ({ tenantId, epoch, seq, advance }) => {
      demand(isCount(seq), 'A place in a log is out of bounds.');
      return { tenantId: shortText(tenantId, 'A tenant id'), epoch, seq, advance };
    },
    reply: 'tenantCommits',
    replyToWire: (answer) => {
      assert(Buffer.byteLength(answer.commits) <= FOLLOWED_BYTES_MAX, 'the commits of an answer have at most 3 MiB');
      return answer;
    },
    replyFromWire: (answer) => {
      const { epoch, seq, nextBase, nowMs, appliedSeq, commits } = answer;
      if (![seq, nextBase, nowMs, appliedSeq].every(isCount)) throw malformed('A place in a log is out of bounds.');
      return { epoch, seq, nextBase, nowMs, appliedSeq, commits };
    },
  }),
};
