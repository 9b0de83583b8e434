// A tenant on an unlimited plan whose owner writes rules of nearly 64 KiB back to back on 16 connections: full of gates
// in gates, full of conditions, full of names, and with a circle through `but_not` that is found last. Between them,
// checks make the service compile what was written.

import { runAttack } from '../attacker/attack-run.ts';
import { bodyRequest, postRequest, runClosedLoop } from '../attacker/closed-loop.ts';
import { manyConditions, manyGates, manyNames } from '../large-rules.ts';

const CONNECTIONS = 16;

runAttack(async ({ baseUrl, key, adminKey }, run) => {
  const put = (rules: object): string => bodyRequest('PUT', '/v1/rules', adminKey, JSON.stringify(rules));
  const check = { subject: 'user:a', relation: 'viewer', object: 'document:a' };
  const requests = [
    put(manyGates([])),
    put(manyConditions(1)),
    put(manyGates(['n0'])),
    put(manyNames()),
    put(manyConditions(2)),
    postRequest('/v1/check', key, JSON.stringify(check)),
    postRequest('/v1/check', key, JSON.stringify({ ...check, context: {} })),
  ];
  let answered = 0;
  await runClosedLoop(run, {
    url: baseUrl,
    connections: CONNECTIONS,
    requestOf: (number) => requests[number % requests.length] ?? '',
    onResponse: (status, body) => {
      run.expect(status, [200, 400, 429, 503], body);
      if (status !== 503) answered += 1;
    },
  });
  if (answered === 0) run.reject('nothing was answered');
});
