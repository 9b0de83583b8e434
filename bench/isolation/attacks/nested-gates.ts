// A tenant with rules on an unlimited plan: single checks, a bulk of 100 checks and both listings through a nest of
// groups in which every level is a gate over a group of 10,000 members. Every eighth request changes its members, so
// nothing that the service keeps about groups lasts.

import { runAttack } from '../attacker/attack-run.ts';
import { bodyRequest, postRequest, runClosedLoop } from '../attacker/closed-loop.ts';
import { GATED_OBJECT, gatedMember } from '../filled-gates.ts';
import { GROUP_MEMBERS } from '../filled-grants.ts';

const CONNECTIONS = 64;
const CHECKS = 100;
/** Changed in turn; all beyond those that exist from the start. */
const CHANGED = 500;
const RELATION = 'can_read';

/** Members that nobody changes. */
function questionAbout(number: number) {
  const { subject, authorized } = gatedMember((number * 7919) % GROUP_MEMBERS);
  return { check: { subject, relation: RELATION, object: GATED_OBJECT }, authorized };
}

runAttack(async ({ baseUrl, key }, run) => {
  const asked = Array.from({ length: CHECKS }, (_, check) => questionAbout(check));
  const bulk = postRequest('/v1/check/bulk', key, JSON.stringify({ checks: asked.map(({ check }) => check) }));
  const bulkStart = `{"results":${JSON.stringify(asked.map(({ authorized }) => ({ authorized })))},`;
  const holders = { object: GATED_OBJECT, relation: RELATION, limit: 1000 };
  const check = {
    text: (number: number) => postRequest('/v1/check', key, JSON.stringify(questionAbout(number).check)),
    start: (number: number) => `{"authorized":${questionAbout(number).authorized},`,
  };
  const several = { text: () => bulk, start: () => bulkStart };
  const objects = {
    text: (number: number) => {
      const { subject } = questionAbout(number).check;
      return postRequest('/v1/objects', key, JSON.stringify({ subject, relation: RELATION }));
    },
    start: (number: number) => `{"objects":[${questionAbout(number).authorized ? `"${GATED_OBJECT}"` : ''}]`,
  };
  // It decides ten thousand candidates.
  const subjects = {
    text: () => postRequest('/v1/subjects', key, JSON.stringify(holders)),
    start: () => '{"subjects":["group:gated-0#member","user:',
  };
  const questions = [check, several, objects, check, check, several, objects, subjects];
  const changeAt = (number: number): number | undefined => {
    return number % questions.length === 0 ? number / questions.length : undefined;
  };
  let answered = 0;
  await runClosedLoop(run, {
    url: baseUrl,
    connections: CONNECTIONS,
    requestOf: (number) => {
      const change = changeAt(number);
      if (change === undefined) return questions[number % questions.length]?.text(number) ?? '';
      const subject = `user:changed-${change % CHANGED}`;
      const method = Math.floor(change / CHANGED) % 2 === 0 ? 'POST' : 'DELETE';
      const grant = { subject, relation: 'member', object: 'group:gated-0' };
      return bodyRequest(method, '/v1/grants', key, JSON.stringify(grant));
    },
    onResponse: (status, body, number) => {
      run.expect(status, [200, 201, 204, 404, 503], body);
      if (status !== 503) answered += 1;
      if (status !== 200 || changeAt(number) !== undefined) return;
      const start = questions[number % questions.length]?.start(number) ?? '';
      if (!body.startsWith(start)) run.reject(`a wrong response, not ${start}: ${body.slice(0, 300)}`);
    },
  });
  if (answered === 0) run.reject('nothing was answered');
});
