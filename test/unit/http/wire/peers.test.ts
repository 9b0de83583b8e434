// Who has the most connections.

import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Connection, createConnection } from '../../../../src/http/wire/connection.ts';
import { type Peer, Peers } from '../../../../src/http/wire/peers.ts';

const connect = (): Connection => createConnection({} as Socket, { nowMs: 0, oldAtMs: 0 });

describe('the peers', () => {
  it('know who has the most connections, whatever comes and goes', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.boolean()), { maxLength: 80 }), (moves) => {
        const peers = new Peers();
        const open: { readonly name: string; readonly peer: Peer; readonly connection: Connection }[] = [];
        for (const [name, comes] of moves) {
          if (comes) {
            const connection = connect();
            open.push({ name, peer: peers.add(name, connection), connection });
          } else {
            const index = open.findIndex((each) => each.name === name);
            const [closed] = index === -1 ? [] : open.splice(index, 1);
            if (closed !== undefined) {
              peers.remove(closed.peer, closed.connection);
              peers.remove(closed.peer, closed.connection);
            }
          }
          const counts = [...Map.groupBy(open, (each) => each.name).values()].map(({ length }) => length);
          assert.equal(peers.most()?.connections.size ?? 0, Math.max(0, ...counts));
          for (const each of open) assert.equal(peers.of(each.name), each.peer);
        }
      }),
    );
  });
});
