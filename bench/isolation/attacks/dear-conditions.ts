// A tenant with rules on an unlimited plan: checks, bulks and both listings through grants whose conditions loop in
// loops, until the steps of an evaluation, of a check or of a listing are used up, each with the largest context.

import { type AskedInTurn, askInTurn } from '../attacker/asked-in-turn.ts';
import { runAttack } from '../attacker/attack-run.ts';
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
  const questions: AskedInTurn[] = [
    { path: '/v1/check', body: { ...checkOf(nestedObject(0)), context: CONTEXT }, start: '{"authorized":false,' },
    { path: '/v1/check', body: { ...checkOf(CONDITIONAL_OBJECT), context: CONTEXT } },
    { path: '/v1/check', body: { ...checkOf(nestedObject(1)), context: { l: numbers(LONG_LIST) } } },
    { path: '/v1/check/bulk', body: { checks, context: CONTEXT } },
    {
      path: '/v1/objects',
      // The subject has grants with patterns, too.
      body: { subject: CONDITIONAL_SUBJECT, relation: RELATION, context: { ...CONTEXT, s: '', p: 'z' } },
      start: '{"objects":[]',
    },
    {
      path: '/v1/subjects',
      body: { object: CONDITIONAL_OBJECT, relation: RELATION, context: CONTEXT },
      start: '{"subjects":[]',
    },
  ];
  await askInTurn(run, { url: baseUrl, key, connections: CONNECTIONS }, questions);
});
