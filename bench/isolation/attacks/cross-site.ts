// The requests that a page on another site makes the operator's browser send to the operator's API, without a token,
// and idle connections to the console.

import { runAttack } from '../attacker/attack-run.ts';
import { openRawSockets } from '../attacker/raw-sockets.ts';
import { callOnce } from '../http-call.ts';

const REQUESTS = 60;
const IDLE_SOCKETS = 512;
const HEADERS = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' };

runAttack(async ({ consoleUrl }, run) => {
  for (let number = 0; number < REQUESTS; number += 1) {
    const { status, body } = await callOnce({ url: `${consoleUrl}/operator/v1/tenants`, headers: HEADERS });
    run.expect(status, [401, 403, 429, 503], body);
  }
  await openRawSockets(run, { url: consoleUrl, count: IDLE_SOCKETS });
  await run.hold();
});
