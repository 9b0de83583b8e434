// `grantd dev` after a start with a clock that was an hour ahead: what expired then stays so, and the operator's
// command sets its time back, so that new expiries go by the clock again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../../cli/support/commands.ts';
import { DevProcess, MAIN, readDevFacts, startDev, testEnvironment } from '../../kit/dev-process.ts';
import { useDirectory } from '../../kit/directory.ts';
import { waitFor } from '../../kit/wait-for.ts';

const HOUR_MS = 3_600_000;
const FEW_SLOTS = { GRANTD_SLOTS: '4' };
/** A module that puts the clock of its process ahead. */
const AHEAD = `data:text/javascript,${encodeURIComponent(`const now = Date.now; Date.now = () => now() + ${HOUR_MS};`)}`;

const directory = useDirectory();

async function call(path: string, body?: object, key = readDevFacts(directory).key) {
  const response = await fetch(`${readDevFacts(directory).base_url}/v1${path}`, {
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const record: Record<string, unknown> = JSON.parse((await response.text()) || '{}');
  return { status: response.status, record };
}

const grantOf = (name: string) => ({ subject: `user:${name}`, relation: 'viewer', object: 'document:plan' });
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
const grant = async (name: string, ms: number) =>
  (await call('/grants', { ...grantOf(name), expires_at: inMs(ms) })).status;
const holds = async (name: string) => (await call('/check', grantOf(name))).record.authorized;

test('a store whose time is an hour ahead is set back by a command, and what had expired does not come back', async () => {
  let dev = await startDev(directory, { environment: FEW_SLOTS });
  assert.equal(await grant('ada', HOUR_MS / 2), 201);
  const created = await call('/keys', { name: 'half', scopes: ['check:read'], expires_at: inMs(HOUR_MS / 2) });
  const half = String(created.record.key);
  assert.equal((await call('/check', grantOf('ada'), half)).record.authorized, true);
  await dev.stop();

  const environment = { ...testEnvironment(directory), ...FEW_SLOTS };
  dev = new DevProcess(['dev'], environment, [process.execPath, '--import', AHEAD, MAIN]);
  await dev.ready();
  assert.equal(await holds('ada'), false);
  await dev.stop();

  dev = await startDev(directory, { environment: FEW_SLOTS });
  assert.equal(await holds('ada'), false);
  assert.equal(await grant('bob', 60_000), 400, 'it has passed by the time of the log');
  const dry = await runCommand(directory, ['repair-time', '--dry-run', '--json']);
  assert.equal(dry.code, 0, dry.stderr);
  const ahead: readonly { readonly state: string; readonly ahead_ms: number }[] = JSON.parse(dry.stdout);
  assert.deepEqual(new Set(ahead.map(({ state }) => state)), new Set(['ahead']));
  assert.ok(ahead.every(({ ahead_ms: ms }) => ms > HOUR_MS / 2 && ms <= HOUR_MS));
  const unconfirmed = await runCommand(directory, ['repair-time']);
  assert.deepEqual([unconfirmed.code, unconfirmed.stdout], [2, '']);
  assert.equal(await grant('bob', 60_000), 400);

  const repaired = await runCommand(directory, ['repair-time', '--yes', '--json']);
  assert.equal(repaired.code, 0, repaired.stderr);
  const records: readonly { readonly state: string; readonly keys_revoked: number }[] = JSON.parse(repaired.stdout);
  assert.deepEqual([records.length, new Set(records.map(({ state }) => state))], [ahead.length, new Set(['repaired'])]);
  assert.equal(
    records.reduce((sum, { keys_revoked: keys }) => sum + keys, 0),
    1,
  );
  await waitFor('the slots', async () => {
    const { code, stdout } = await runCommand(directory, ['repair-time', '--dry-run']);
    return code === 0 && stdout === 'No slot is ahead of the clock of its shard.\n';
  });
  assert.equal(await holds('ada'), false);
  assert.equal((await call('/check', grantOf('ada'), half)).status, 401);
  assert.equal(await grant('bob', 60_000), 201);
  assert.equal(await grant('eve', 2000), 201);
  assert.deepEqual([await holds('bob'), await holds('ada')], [true, false]);
  await waitFor('the expiry', async () => !(await holds('eve')));
  await dev.stop('SIGKILL');

  dev = await startDev(directory, { environment: FEW_SLOTS });
  assert.deepEqual([await holds('bob'), await holds('ada'), await holds('eve')], [true, false, false]);
  assert.equal((await call('/check', grantOf('ada'), half)).status, 401);
  await dev.stop();
});
