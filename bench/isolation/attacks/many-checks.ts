// A tenant on an unlimited plan: single checks, back to back on 500 connections.

import { runAttack } from '../attacker/attack-run.ts';
import { postRequest, runClosedLoop } from '../attacker/closed-loop.ts';
import { LONG_GRANTS_PER_SUBJECT, LONG_SUBJECTS, longTuple } from '../filled-grants.ts';

const CONNECTIONS = 500;
const QUESTIONS = 1000;

runAttack(async ({ baseUrl, key }, run) => {
  const requests = Array.from({ length: QUESTIONS }, (_, number) =>
    postRequest(
      '/v1/check',
      key,
      JSON.stringify(longTuple(number % LONG_SUBJECTS, (number * 7919) % LONG_GRANTS_PER_SUBJECT)),
    ),
  );
  await runClosedLoop(run, {
    url: baseUrl,
    connections: CONNECTIONS,
    requestOf: (number) => requests[number % requests.length] ?? '',
    onResponse: (status, body) => run.expect(status, [200, 503], body),
  });
});
