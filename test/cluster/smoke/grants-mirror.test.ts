// The example that keeps a copy of the grants in step with the change feed, while it and the service are killed again
// and again: in the end the copy equals the export.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { freePort } from '../../../tools/engines/free-port.ts';
import { type DevFacts, readDevFacts, startDev } from '../../kit/dev-process.ts';
import { waitFor } from '../../kit/wait-for.ts';

const MIRROR = join(import.meta.dirname, '..', '..', '..', 'examples', 'grants-mirror', 'mirror.ts');
const ROUNDS = 6;
const WRITES_PER_ROUND = 60;

const send = (facts: DevFacts, method: string, body: object): Promise<Response> =>
  fetch(`${facts.base_url}/v1/grants`, {
    method,
    headers: { Authorization: `Bearer ${facts.key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Creates and revokes; some calls may be cut off. */
async function write(facts: DevFacts, round: number): Promise<void> {
  for (let index = 0; index < WRITES_PER_ROUND; index += 1) {
    const tuple = { subject: `user:${index % 7}`, relation: 'viewer', object: `document:${index % 13}` };
    const method = (index + round) % 3 === 0 ? 'DELETE' : 'POST';
    const response = await send(facts, method, tuple).catch(() => undefined);
    await response?.arrayBuffer().catch(() => undefined);
  }
}

async function readExport(facts: DevFacts): Promise<string[]> {
  const response = await fetch(`${facts.console_url}/operator/v1/tenants/${facts.tenant_id}/export?format=tsv`, {
    headers: { Authorization: `Bearer ${facts.operator_token}` },
  });
  assert.equal(response.status, 200);
  return (await response.text()).split('\n').filter((line) => line !== '');
}

it('a copy of the grants follows them over kills of the service and of itself', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-mirror-'));
  const file = join(directory, 'grants.db');
  const environment = { GRANTD_HTTP_ADDRESS: `127.0.0.1:${await freePort()}`, GRANTD_LOG_LEVEL: 'warn' };
  let grantd = await startDev(directory, { environment });
  let mirror: ChildProcess | undefined;
  const startMirror = (): void => {
    const { base_url: url, key } = readDevFacts(directory);
    mirror = spawn(process.execPath, [MIRROR, file], {
      env: { ...process.env, GRANTD_URL: url, GRANTD_KEY: key },
      stdio: 'ignore',
    });
  };
  const killMirror = async (): Promise<void> => {
    const ended = mirror && once(mirror, 'exit');
    mirror?.kill('SIGKILL');
    await ended;
  };
  const copied = (): string[] => {
    using database = new DatabaseSync(file, { readOnly: true });
    const rows = database.prepare('SELECT * FROM grants').all();
    return rows
      .map(({ subject, relation, object, expires_at: end, condition }) => {
        const tuple = `${subject}\t${relation}\t${object}`;
        if (condition === null) return end === null ? tuple : `${tuple}\t${end}`;
        const { name, context } = JSON.parse(String(condition));
        return `${tuple}\t${end ?? ''}\t${name} ${JSON.stringify(context)}`;
      })
      .sort();
  };
  try {
    startMirror();
    for (let round = 0; round < ROUNDS; round += 1) {
      const facts = readDevFacts(directory);
      const written = write(facts, round);
      if (round % 2 === 0) await killMirror();
      else await grantd.stop('SIGKILL');
      await written;
      if (round % 2 === 0) startMirror();
      else grantd = await startDev(directory, { environment });
    }
    const facts = readDevFacts(directory);
    const rules = await fetch(`${facts.base_url}/v1/rules`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${facts.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        rules: [],
        conditions: [{ name: 'capped', parameters: { limit: 'int' }, expression: 'limit > 5' }],
      }),
    });
    assert.equal(rules.status, 200, await rules.text());
    const of = (subject: string) => ({ subject, relation: 'viewer', object: 'document:last' });
    const condition = { name: 'capped', context: { limit: 9 } };
    for (const grant of [
      { ...of('user:capped'), condition },
      { ...of('user:ending'), expires_at: '2090-01-01T00:00:00.000Z' },
      { ...of('user:both'), condition, expires_at: '2090-01-01T00:00:00.000Z' },
      of('user:last'),
    ]) {
      assert.equal((await send(facts, 'POST', grant)).status, 201);
    }
    const exported = (await readExport(facts)).sort();
    await waitFor('the last grant in the copy', () => copied().includes('user:last\tviewer\tdocument:last'));
    assert.deepEqual(copied(), exported);
  } finally {
    await killMirror();
    await grantd.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  }
});
