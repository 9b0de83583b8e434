// Checks at a steady rate, half of them authorized, each answer compared with the right one. It makes the grants it asks
// about first; making them again changes nothing. The thresholds decide whether the run has passed.

import { check } from 'k6';
import http from 'k6/http';

const BASE_URL = __ENV.GRANTD_BASE_URL;
const SUBJECTS = 100;
const PARAMS = {
  headers: { Authorization: `Bearer ${__ENV.GRANTD_KEY}`, 'Content-Type': 'application/json' },
};

export const options = {
  scenarios: {
    checks: {
      executor: 'constant-arrival-rate',
      // Of the whole run: the operator divides it among the runners. Written here and not read from the environment: the
      // operator looks at the options in a pod of its own, where k6 leaves the environment out.
      rate: 100,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 50,
      maxVUs: 500,
    },
  },
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate==0'],
    http_req_duration: ['p(99)<500'],
    dropped_iterations: ['count==0'],
  },
};

const tuple = (subject, object) =>
  JSON.stringify({ subject: `user:load-${subject}`, relation: 'viewer', object: `document:load-${object}` });

export function setup() {
  for (let number = 0; number < SUBJECTS; number += 1) {
    const answer = http.post(`${BASE_URL}/v1/grants`, tuple(number, number), PARAMS);
    if (answer.status !== 200 && answer.status !== 201) {
      throw new Error(`The grants could not be made: ${answer.status} ${answer.body}`);
    }
  }
}

export default function () {
  const number = Math.floor(Math.random() * SUBJECTS);
  const authorized = Math.random() < 0.5;
  // Each subject holds the relation on the document of its own number only.
  const body = tuple(number, authorized ? number : number + SUBJECTS);
  const answer = http.post(`${BASE_URL}/v1/check`, body, PARAMS);
  check(answer, {
    'the answer is the right one': () => answer.status === 200 && answer.json('authorized') === authorized,
  });
}
