// Up to where the logs of the slots go that a shard serves, and the keys with which consoles sign their places in them.

import type { LogEnds, LogRange } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';

export const listLogEnds = defineCall({
  request: 'listLogEnds',
  reply: 'logEnds',
  access: 'console',
  write: 'no',
  requestToWire: (_: undefined) => ({ listLogEnds: {} }),
  requestFromWire: () => undefined,
  serve: ({ connection }) => connection.listLogEnds(),
  replyToWire: ({ ranges, cursorKeys }) => ({
    logEnds: {
      slots: ranges.map(({ slot }) => slot),
      firsts: ranges.map(({ first }) => first),
      lasts: ranges.map(({ last }) => last),
      cursorKeys: [...cursorKeys],
    },
  }),
  replyFromWire: ({ slots, firsts, lasts, cursorKeys }): LogEnds => ({
    ranges: slots.map((slot, index): LogRange => ({ slot, first: firsts[index] ?? 0, last: lasts[index] ?? 0 })),
    cursorKeys,
  }),
});
