// Readers that come by themselves: a tenant whose readers are `auto` crowds its owner, and gets some, which answer.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { readDevFacts, startDev } from '../../kit/dev-process.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { LargeTenant } from '../support/large-tenant.ts';
import { OperatorClient } from '../support/operator-client.ts';

const CLIENTS = 16;
/** Two decisions of the owner, which need the whole of the ten seconds before each. */
const CHOICE_MS_MAX = 120_000;

it('an owner that is crowded by a tenant chooses readers for it, which answer', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-auto-'));
  const grantd = await startDev(directory, { args: ['--shards', '3'] });
  let loading = true;
  try {
    const { base_url: url, console_url: consoleUrl, operator_token: token } = readDevFacts(directory);
    const operator = new OperatorClient(consoleUrl, token);
    const tenant = await LargeTenant.create(operator, url, () => true);
    await tenant.setReaders('auto');
    await tenant.nestFolders();
    assert.equal(await tenant.effectiveReaders(), 0);

    const client = async (): Promise<void> => {
      while (loading) await tenant.checkFolders();
    };
    const clients = Array.from({ length: CLIENTS }, client);
    const chosen = (): Promise<boolean> => tenant.effectiveReaders().then((readers) => readers > 0);
    await Promise.race([waitFor('readers', chosen, CHOICE_MS_MAX), ...clients]);
    const { shard: owner } = await tenant.slot();
    for (const { shard } of await operator.members()) {
      if (shard !== owner) await waitFor(`answers of ${shard}`, () => tenant.isReadBy(shard));
    }
    context.diagnostic(`${await tenant.effectiveReaders()} readers`);
    loading = false;
    await Promise.all(clients);
  } finally {
    loading = false;
    await grantd.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  }
});
