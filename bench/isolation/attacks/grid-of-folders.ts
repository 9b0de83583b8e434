// A tenant with rules on an unlimited plan: bulks of 100 checks and both listings through a grid of folders, back to
// back on 64 connections. Each folder lies in all three of the next level, and each relation passes on three.

import { runAttack } from '../attacker/attack-run.ts';
import { postRequest, runClosedLoop } from '../attacker/closed-loop.ts';
import { requestHead } from '../attacker/raw-sockets.ts';
import { GRID_OBJECT, GRID_SUBJECT, listingPath, subjectsPath } from '../filled-grants.ts';

const CONNECTIONS = 64;
const CHECKS = 100;

runAttack(async ({ baseUrl, key }, run) => {
  const checks = Array.from({ length: CHECKS }, (_, check) => ({
    subject: check % 2 === 0 ? GRID_SUBJECT : `user:nobody-${check}`,
    relation: 'viewer',
    object: GRID_OBJECT,
  }));
  const expected = checks.map(({ subject }) => ({ authorized: subject === GRID_SUBJECT }));
  const expectedStart = `{"results":${JSON.stringify(expected)},`;
  const requests = [
    postRequest('/v1/check/bulk', key, JSON.stringify({ checks })),
    requestHead('GET', listingPath(GRID_SUBJECT), key),
    requestHead('GET', subjectsPath(GRID_OBJECT), key),
  ];
  let answered = 0;
  await runClosedLoop(run, {
    url: baseUrl,
    connections: CONNECTIONS,
    requestOf: (number) => requests[number % requests.length] ?? '',
    onResponse: (status, body, number) => {
      if (status === 200) answered += 1;
      if (status === 200 && number % requests.length === 0 && !body.startsWith(expectedStart)) {
        run.reject(`a wrong response: ${body.slice(0, 300)}`);
      }
      run.expect(status, [200, 503], body);
    },
  });
  if (answered === 0) run.reject('no question was answered');
});
