// Each listing follows a write to its subject, so any order that the service keeps has just changed. The subjects have
// 9,990 objects that differ only in their last letters, which is the most expensive case of a comparison.

import { runAttack } from '../attacker/attack-run.ts';
import { bodyRequest, runClosedLoop } from '../attacker/closed-loop.ts';
import { requestHead } from '../attacker/raw-sockets.ts';
import { LONG_GRANTS_PER_SUBJECT, LONG_SUBJECTS, listingPath, longTuple } from '../filled-grants.ts';

/** Below a plan of 600 in 60 s. */
const REQUESTS_MAX = 590;
/** A page holds at most 10,000 grants: beyond that, the subject would be another case. */
const WRITES_PER_SUBJECT_MAX = 9;

runAttack(async ({ baseUrl, key }, run) => {
  let listed = 0;
  await runClosedLoop(run, {
    url: baseUrl,
    connections: LONG_SUBJECTS,
    requestsMax: REQUESTS_MAX,
    requestOf: (number) => {
      const subject = number % LONG_SUBJECTS;
      const round = Math.floor(number / LONG_SUBJECTS);
      if (round % 2 === 1) return requestHead('GET', listingPath(longTuple(subject, 0).subject), key);
      const object = LONG_GRANTS_PER_SUBJECT + ((round / 2) % WRITES_PER_SUBJECT_MAX);
      // From the second round on, the grant already exists: the other method changes it.
      const method = Math.floor(round / 2 / WRITES_PER_SUBJECT_MAX) % 2 === 0 ? 'POST' : 'DELETE';
      return bodyRequest(method, '/v1/grants', key, JSON.stringify(longTuple(subject, object)));
    },
    onResponse: (status, body) => {
      if (status === 200 && body.startsWith('{"objects":')) listed += 1;
      run.expect(status, [200, 201, 204, 404, 429, 503], body);
    },
  });
  if (listed === 0) run.reject('no listing was answered');
});
