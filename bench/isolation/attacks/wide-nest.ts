// A tenant with rules on an unlimited plan: single checks, a bulk of 100 checks and both listings through a group of
// 10,000 members in a nest of groups. Every eighth request changes its members, so nothing that the service keeps about
// groups lasts.

import { runAttack } from '../attacker/attack-run.ts';
import { bodyRequest, postRequest, runClosedLoop } from '../attacker/closed-loop.ts';
import { requestHead } from '../attacker/raw-sockets.ts';
import { GROUP_MEMBERS, listingPath, memberTuple, NEST_OBJECT, subjectsPath } from '../filled-grants.ts';

const CONNECTIONS = 64;
const CHECKS = 100;
/** Changed in turn; all beyond those that exist from the start. */
const CHANGED = 500;

/** Members that nobody changes. */
const questionAbout = (number: number) => ({
  subject: memberTuple((number * 7919) % GROUP_MEMBERS).subject,
  relation: 'viewer',
  object: NEST_OBJECT,
});

runAttack(async ({ baseUrl, key }, run) => {
  const bulk = { checks: Array.from({ length: CHECKS }, (_, check) => questionAbout(check)) };
  const questions = [
    (number: number) => postRequest('/v1/check', key, JSON.stringify(questionAbout(number))),
    () => postRequest('/v1/check/bulk', key, JSON.stringify(bulk)),
    () => requestHead('GET', subjectsPath(NEST_OBJECT), key),
    (number: number) => requestHead('GET', listingPath(memberTuple(number % GROUP_MEMBERS).subject), key),
  ];
  let answered = 0;
  await runClosedLoop(run, {
    url: baseUrl,
    connections: CONNECTIONS,
    requestOf: (number) => {
      const round = Math.floor(number / questions.length);
      if (number % questions.length === 0 && round % 2 === 0) {
        const change = memberTuple(GROUP_MEMBERS + ((round / 2) % CHANGED));
        const method = Math.floor(round / 2 / CHANGED) % 2 === 0 ? 'POST' : 'DELETE';
        return bodyRequest(method, '/v1/grants', key, JSON.stringify(change));
      }
      return questions[number % questions.length]?.(number) ?? '';
    },
    onResponse: (status, body) => {
      if (status === 200 && !body.startsWith('{"grant')) answered += 1;
      if (body.includes('"authorized":false')) run.reject(`a wrong response: ${body.slice(0, 300)}`);
      run.expect(status, [200, 201, 204, 404, 503], body);
    },
  });
  if (answered === 0) run.reject('no question was answered');
});
