// Questions about the large subjects, each asked once, and the acceptable responses: the right answer, or for several
// concurrent bulks also `overloaded`.

import type { Tuple } from '../../../src/core/tuples.ts';
import type { AttackTarget } from '../attack-messages.ts';
import { LARGE_GRANTS_PER_SUBJECT, largeTuple } from '../filled-grants.ts';
import type { AttackRun } from './attack-run.ts';
import { postRequest, runClosedLoop } from './closed-loop.ts';

const CHECKS_PER_BULK = 100;

/** Every other one is authorized. */
export function coldQuestion(subject: number): { readonly tuple: Tuple; readonly authorized: boolean } {
  const authorized = subject % 2 === 0;
  const number = (subject * 31) % LARGE_GRANTS_PER_SUBJECT;
  return { tuple: largeTuple(subject, authorized ? number : number + LARGE_GRANTS_PER_SUBJECT), authorized };
}

/** `mayBeRefused`: it is more than one request may take, so 503 is acceptable too. */
export function judgeCold(
  run: AttackRun,
  { status, body, expectedStart }: { readonly status: number; readonly body: string; readonly expectedStart: string },
  mayBeRefused: boolean,
): void {
  run.expect(status, mayBeRefused ? [200, 503] : [200], body);
  if (status === 200 && !body.startsWith(expectedStart)) run.reject(`a wrong response: ${body.slice(0, 300)}`);
}

/** All at once, each about different subjects as far as there are enough. */
export async function askColdBulks(
  { baseUrl, key, largeSubjects }: AttackTarget,
  run: AttackRun,
  count: number,
): Promise<void> {
  const bulks = Array.from({ length: count }, (_, bulk) => {
    const questions = Array.from({ length: CHECKS_PER_BULK }, (__, check) =>
      coldQuestion((bulk * CHECKS_PER_BULK + check) % largeSubjects),
    );
    return {
      text: postRequest('/v1/check/bulk', key, JSON.stringify({ checks: questions.map(({ tuple }) => tuple) })),
      expectedStart: `{"results":${JSON.stringify(questions.map(({ authorized }) => ({ authorized })))},`,
    };
  });
  await runClosedLoop(run, {
    url: baseUrl,
    connections: count,
    requestsMax: count,
    isOnce: true,
    requestOf: (number) => bulks[number]?.text ?? '',
    onResponse: (status, body, number) =>
      judgeCold(run, { status, body, expectedStart: bulks[number]?.expectedStart ?? '' }, count > 1),
  });
}
