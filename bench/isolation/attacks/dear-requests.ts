// A tenant on an unlimited plan: bulks of 100 checks and listings of a thousand objects, back to back on 64
// connections.

import { runAttack } from '../attacker/attack-run.ts';
import { postRequest, runClosedLoop } from '../attacker/closed-loop.ts';
import { requestHead } from '../attacker/raw-sockets.ts';
import { LONG_GRANTS_PER_SUBJECT, LONG_SUBJECTS, listingPath, longTuple } from '../filled-grants.ts';

const CONNECTIONS = 64;
const CHECKS = 100;
const BULKS = 50;

runAttack(async ({ baseUrl, key }, run) => {
  const bulks = Array.from({ length: BULKS }, (_, bulk) => {
    const checks = Array.from({ length: CHECKS }, (__, check) => {
      const number = bulk * CHECKS + check;
      return longTuple(number % LONG_SUBJECTS, (number * 7919) % LONG_GRANTS_PER_SUBJECT);
    });
    return postRequest('/v1/check/bulk', key, JSON.stringify({ checks }));
  });
  const listings = Array.from({ length: LONG_SUBJECTS }, (_, subject) =>
    requestHead('GET', listingPath(longTuple(subject, 0).subject), key),
  );
  await runClosedLoop(run, {
    url: baseUrl,
    connections: CONNECTIONS,
    requestOf: (number) => {
      const kind = number % 2 === 0 ? bulks : listings;
      return kind[Math.floor(number / 2) % kind.length] ?? '';
    },
    onResponse: (status, body) => run.expect(status, [200, 503], body),
  });
});
