// A tenant on an unlimited plan whose owner writes rules of nearly 64 KiB back to back on 16 connections: full of gates
// in gates, full of conditions, full of names, and with a circle through `but_not` that is found last. Between them,
// checks make the service compile what was written.

import { runAttack } from '../attacker/attack-run.ts';
import { bodyRequest, postRequest, runClosedLoop } from '../attacker/closed-loop.ts';

const CONNECTIONS = 16;
/** Less than the bound on the canonical text, by what the other members take. */
const RULES_BYTES = 63 * 1024;
const RULES = 200;
const NAMES = 199;
/** Bytes of an expression. */
const EXPRESSION_BYTES = 1900;

const name = (index: number): string => `n${index % NAMES}`;

/** Rules whose elements come from `element`, of the number of those before, until the bytes are used up. */
function filled(element: (number: number) => unknown): readonly object[] {
  const each = Math.floor(RULES_BYTES / RULES);
  let count = 0;
  return Array.from({ length: RULES }, (_, rule) => {
    const elements: unknown[] = [];
    const head = JSON.stringify({ namespace: 'document', name: `n${rule}`, any_of: [] }).length;
    for (let bytes = head; ; count += 1) {
      const next = element(count);
      bytes += JSON.stringify(next).length + 1;
      if (bytes > each) break;
      elements.push(next);
    }
    return { namespace: 'document', name: `n${rule}`, any_of: elements.length === 0 ? ['viewer'] : elements };
  });
}

/** Five gates in each other. */
const deep = (number: number): unknown => {
  let element: unknown = name(number);
  for (let depth = 0; depth < 5; depth += 1) element = { all_of: [element, 'viewer'] };
  return element;
};

/** The only rule that is asked refers to all others in a chain; the last one closes a circle if it may. */
const gates = (closing: readonly string[]) => ({
  relations: ['blocked'],
  rules: filled((number) =>
    number % 8 === 0 ? { all_of: ['viewer', 'editor'], but_not: ['blocked', ...closing] } : deep(number),
  ),
  groups: true,
});

const conditions = (salt: number) => ({
  conditions: Array.from({ length: Math.floor(RULES_BYTES / (EXPRESSION_BYTES + 100)) }, (_, index) => {
    const term = (part: number): string => `l.exists(x, x==${salt}+${part})`;
    const terms: string[] = [];
    for (let bytes = 0, part = 0; bytes < EXPRESSION_BYTES - 30; part += 1) {
      terms.push(term(part));
      bytes += term(part).length + 2;
    }
    return { name: `c${index}`, parameters: { l: 'list<int>' }, expression: terms.join('||') };
  }),
  rules: [],
});

const names = () => ({ rules: filled((number) => `${name(number * 7)} from parent`), groups: true });

runAttack(async ({ baseUrl, adminKey }, run) => {
  const put = (rules: object): string => bodyRequest('PUT', '/v1/rules', adminKey, JSON.stringify(rules));
  const check = { subject: 'user:a', relation: 'viewer', object: 'document:a' };
  const requests = [
    put(gates([])),
    put(conditions(1)),
    put(gates(['n0'])),
    put(names()),
    put(conditions(2)),
    postRequest('/v1/check', adminKey, JSON.stringify(check)),
    postRequest('/v1/check', adminKey, JSON.stringify({ ...check, context: {} })),
  ];
  let written = 0;
  await runClosedLoop(run, {
    url: baseUrl,
    connections: CONNECTIONS,
    requestOf: (number) => requests[number % requests.length] ?? '',
    onResponse: (status, body, number) => {
      run.expect(status, [200, 400, 429, 503], body);
      if (status === 200 && number % requests.length < 5) written += 1;
    },
  });
  if (written === 0) run.reject('no rules were written');
});
