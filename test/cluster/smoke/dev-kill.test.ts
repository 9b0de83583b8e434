// `kill -9` of the whole process in the middle of writes, again and again.

import { it } from 'node:test';
import { killInBulkWrites } from '../support/bulk-kills.ts';
import { killInWrites } from '../support/write-kills.ts';

const KILLS = 2;
const KILLS_IN_BULK = 2;

it(`nothing acknowledged is lost, and nothing is half done, over ${KILLS} kills in the middle of writes`, async (context) => {
  context.diagnostic(await killInWrites(KILLS));
});

it(`a bulk write and a revocation by a filter are done whole or not at all, over ${KILLS_IN_BULK} kills`, async (context) => {
  context.diagnostic(await killInBulkWrites(KILLS_IN_BULK));
});
