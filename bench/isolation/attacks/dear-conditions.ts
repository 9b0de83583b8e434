// A tenant with rules on an unlimited plan: checks, bulks and both listings through grants whose conditions loop in
// loops, until the steps of an evaluation, of a check or of a listing are used up, each with the largest context.

import { runAttack } from '../attacker/attack-run.ts';
import { postRequest, runClosedLoop } from '../attacker/closed-loop.ts';
import {
  CONDITIONAL_OBJECT,
  CONDITIONAL_SUBJECT,
  NESTED_GRANTS,
  NESTED_LENGTH,
  nestedObject,
} from '../filled-gates.ts';

const CONNECTIONS = 64;
/** Of the largest context, less its other members. */
const PADDING_BYTES = 31 * 1024;
/** Too many for one evaluation. */
const LONG_LIST = 4000;
const RELATION = 'viewer';

const numbers = (length: number): readonly number[] => Array.from({ length }, (_, index) => index % 10);
const CONTEXT = { l: numbers(NESTED_LENGTH), padding: 'x'.repeat(PADDING_BYTES) };

const checkOf = (object: string) => ({ subject: CONDITIONAL_SUBJECT, relation: RELATION, object });

runAttack(async ({ baseUrl, key }, run) => {
  const checks = Array.from({ length: NESTED_GRANTS }, (_, number) => checkOf(nestedObject(number)));
  /** `authorized`: of the only acceptable answer; undefined: it exceeds a bound. */
  const requests = [
    { path: '/v1/check', body: { ...checkOf(nestedObject(0)), context: CONTEXT }, start: '{"authorized":false,' },
    { path: '/v1/check', body: { ...checkOf(CONDITIONAL_OBJECT), context: CONTEXT } },
    { path: '/v1/check', body: { ...checkOf(nestedObject(1)), context: { l: numbers(LONG_LIST) } } },
    { path: '/v1/check/bulk', body: { checks, context: CONTEXT } },
    {
      path: '/v1/objects',
      body: { subject: CONDITIONAL_SUBJECT, relation: RELATION, context: CONTEXT },
      start: '{"objects":[]',
    },
    {
      path: '/v1/subjects',
      body: { object: CONDITIONAL_OBJECT, relation: RELATION, context: CONTEXT },
      start: '{"subjects":[]',
    },
  ].map(({ path, body, start }) => ({ text: postRequest(path, key, JSON.stringify(body)), start }));
  let answered = 0;
  await runClosedLoop(run, {
    url: baseUrl,
    connections: CONNECTIONS,
    requestOf: (number) => requests[number % requests.length]?.text ?? '',
    onResponse: (status, body, number) => {
      const start = requests[number % requests.length]?.start;
      run.expect(status, start === undefined ? [422, 503] : [200, 503], body);
      if (status !== 503) answered += 1;
      if (status !== 200) return;
      if (start === undefined || !body.startsWith(start)) run.reject(`a wrong response: ${body.slice(0, 300)}`);
    },
  });
  if (answered === 0) run.reject('nothing was answered');
});
