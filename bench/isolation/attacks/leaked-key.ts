// A key without the required scope floods the operations on keys.

import { runAttack } from '../attacker/attack-run.ts';
import { runClosedLoop } from '../attacker/closed-loop.ts';
import { requestHead } from '../attacker/raw-sockets.ts';

const CONNECTIONS = 8;
/** No key has this id. */
const UNKNOWN_KEY_ID = `key_${'0'.repeat(26)}`;

runAttack(async ({ baseUrl, key }, run) => {
  const requests = [
    requestHead('GET', '/v1/keys', key),
    requestHead('DELETE', '/v1/keys/x', key),
    requestHead('DELETE', `/v1/keys/${UNKNOWN_KEY_ID}`, key),
  ];
  await runClosedLoop(run, {
    url: baseUrl,
    connections: CONNECTIONS,
    requestOf: (number) => requests[number % requests.length] ?? '',
    onResponse: (status, body) => run.expect(status, [403, 404, 429, 503], body),
  });
});
