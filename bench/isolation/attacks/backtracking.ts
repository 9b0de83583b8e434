// A tenant with rules on an unlimited plan: checks and bulks through grants whose conditions match patterns that make
// an engine backtrack, over texts as long as the steps of an evaluation allow and longer ones, the pattern in the
// condition or in the context.

import { type AskedInTurn, askInTurn } from '../attacker/asked-in-turn.ts';
import { runAttack } from '../attacker/attack-run.ts';
import { CONDITIONAL_SUBJECT, GRANTS_PER_PATTERN, PATTERNS, patternObject } from '../filled-gates.ts';

const CONNECTIONS = 64;
/** Beyond the steps of an evaluation, and within the bytes of a context. */
const TOO_LONG = 32_000;

const checkOf = (pattern: number, number: number) => ({
  subject: CONDITIONAL_SUBJECT,
  relation: 'viewer',
  object: patternObject(pattern, number),
});

runAttack(async ({ baseUrl, key }, run) => {
  const questions = PATTERNS.flatMap(({ pattern, text }, index): AskedInTurn[] => {
    const checks = Array.from({ length: GRANTS_PER_PATTERN }, (_, number) => checkOf(index, number));
    const denied = JSON.stringify(checks.map(() => ({ authorized: false })));
    return [
      { path: '/v1/check', body: { ...checkOf(index, 0), context: { s: text } }, start: '{"authorized":false,' },
      { path: '/v1/check/bulk', body: { checks, context: { s: text } }, start: `{"results":${denied},` },
      { path: '/v1/check', body: { ...checkOf(index, 1), context: { s: text.charAt(0).repeat(TOO_LONG) } } },
      // Compiling it takes steps as well.
      {
        path: '/v1/check',
        body: { ...checkOf(PATTERNS.length, 0), context: { s: text.slice(-1000), p: pattern } },
        start: '{"authorized":false,',
      },
    ];
  });
  await askInTurn(run, { url: baseUrl, key, connections: CONNECTIONS }, questions);
});
