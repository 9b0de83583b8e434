// `kill -9` of the whole process in the middle of writes, again and again.

import { it } from 'node:test';
import { killInWrites } from '../support/write-kills.ts';

const KILLS = 3;

it(`nothing acknowledged is lost, and every write is done whole or not at all, over ${KILLS} kills`, async (context) => {
  context.diagnostic(await killInWrites(KILLS));
});
