// `kill -9` of the whole process in the middle of bulk writes, at length: `npm test -- slow`.

import { it } from 'node:test';
import { killInBulkWrites } from '../support/bulk-kills.ts';

const KILLS = 100;

it(`a bulk write and a revocation by a filter are done whole or not at all, over ${KILLS} kills`, async (context) => {
  context.diagnostic(await killInBulkWrites(KILLS));
});
