// One import call of 400 lines, each a grant of another uncached subject of 10,000 grants.

import { runAttack } from '../attacker/attack-run.ts';
import { LARGE_GRANTS_PER_SUBJECT, largeTuple } from '../filled-grants.ts';
import { callOnce } from '../http-call.ts';

const LINES = 400;

runAttack(async ({ consoleUrl, tenantId, operatorToken, largeSubjects }, run) => {
  const lines = Array.from({ length: LINES }, (_, line) =>
    JSON.stringify(largeTuple(line % largeSubjects, LARGE_GRANTS_PER_SUBJECT + line)),
  );
  const { status, body } = await callOnce({
    url: `${consoleUrl}/operator/v1/tenants/${tenantId}/import`,
    method: 'POST',
    key: operatorToken,
    contentType: 'application/x-ndjson',
    body: lines.join('\n'),
  }).catch((error: unknown) => ({ status: 0, body: String(error) }));
  run.expect(status, [200, 503], body);
});
