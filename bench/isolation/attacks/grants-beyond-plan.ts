// Grants with the longest names, beyond the plan's limit.

import { runAttack } from '../attacker/attack-run.ts';
import { postRequest, runClosedLoop } from '../attacker/closed-loop.ts';
import { wideTuple } from '../filled-grants.ts';
import { GRANTS_MAX } from '../small-plan.ts';

const CONNECTIONS = 8;

runAttack(async ({ baseUrl, key }, run) => {
  let created = 0;
  await runClosedLoop(run, {
    url: baseUrl,
    connections: CONNECTIONS,
    requestsMax: 3 * GRANTS_MAX,
    isOnce: true,
    requestOf: (number) => postRequest('/v1/grants', key, JSON.stringify(wideTuple(number))),
    onResponse: (status, body) => {
      run.expect(status, [201, 403], body);
      if (status === 201) created += 1;
      if (status === 403 && !body.includes('/grant-limit-reached"')) run.reject(body);
    },
  });
  if (created !== GRANTS_MAX) run.reject(`${created} grants were stored of ${GRANTS_MAX} that the plan allows`);
});
