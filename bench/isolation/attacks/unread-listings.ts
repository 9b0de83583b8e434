// 560 concurrent listings on four connections, each of a thousand objects with the longest names, whose responses are
// never read.

import { runAttack } from '../attacker/attack-run.ts';
import { openRawSockets, requestHead } from '../attacker/raw-sockets.ts';
import { listingPath, wideTuple } from '../filled-grants.ts';

const CONNECTIONS = 4;
const REQUESTS_PER_CONNECTION = 140;

runAttack(async ({ baseUrl, key }, run) => {
  const request = requestHead('GET', listingPath(wideTuple(0).subject), key);
  const bytes = Buffer.from(request.repeat(REQUESTS_PER_CONNECTION));
  await openRawSockets(run, { url: baseUrl, count: CONNECTIONS, bytes });
  await run.hold();
});
