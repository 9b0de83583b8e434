// How old a connection may grow.

import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { it } from 'node:test';
import { ageEnds, createConnection } from '../../../../src/http/wire/connection.ts';

it('an old connection ends with the answer to a request, and soon even where a further one is always on its way', () => {
  const connection = createConnection({} as Socket, { nowMs: 0, oldAtMs: 1000 });
  assert.equal(ageEnds(connection, 1000, false), false);
  assert.equal(ageEnds(connection, 1001, false), true);
  assert.equal(ageEnds(connection, 1001, true), false);
  assert.equal(ageEnds(connection, 11_001, true), true);
});
