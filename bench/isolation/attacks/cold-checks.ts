// 300 concurrent single checks, each about another uncached subject of 10,000 grants: the first second after a
// failover.

import { runAttack } from '../attacker/attack-run.ts';
import { postRequest, runClosedLoop } from '../attacker/closed-loop.ts';
import { coldQuestion, judgeCold } from '../attacker/cold-questions.ts';

const CHECKS = 300;

runAttack(async ({ baseUrl, key, largeSubjects }, run) => {
  await runClosedLoop(run, {
    url: baseUrl,
    connections: CHECKS,
    requestsMax: CHECKS,
    isOnce: true,
    requestOf: (number) => postRequest('/v1/check', key, JSON.stringify(coldQuestion(number % largeSubjects).tuple)),
    onResponse: (status, body, number) => {
      const { authorized } = coldQuestion(number % largeSubjects);
      judgeCold(run, { status, body, expectedStart: `{"authorized":${authorized},` }, false);
    },
  });
});
