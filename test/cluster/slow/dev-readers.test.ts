// Readers of changes on the embedded store, killed a thousand times while the whole process is killed again and again:
// each has seen exactly what the audit log has.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { freePort } from '../../../tools/engines/free-port.ts';
import { readDevFacts, startDev } from '../../kit/dev-process.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { OperatorClient } from '../support/operator-client.ts';
import { ResumingReaders } from '../support/resuming-readers.ts';

const KILLS = 10;
const LIVES = 1000;
const TENANTS = 6;

it(`readers killed ${LIVES} times see the audit log, over ${KILLS} kills of the service`, async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-readers-'));
  const environment = {
    GRANTD_HTTP_ADDRESS: `127.0.0.1:${await freePort()}`,
    GRANTD_CONSOLE_ADDRESS: `127.0.0.1:${await freePort()}`,
    GRANTD_LOG_LEVEL: 'error',
  };
  let grantd = await startDev(directory, { environment });
  const facts = readDevFacts(directory);
  const operator = new OperatorClient(facts.console_url, facts.operator_token);
  let readers: ResumingReaders | undefined;
  let writing = true;
  try {
    const tenants = await Promise.all(Array.from({ length: TENANTS }, () => operator.createTenant('readers')));
    const write = async (key: string): Promise<void> => {
      for (let count = 0; writing; count += 1) {
        const tuple = { subject: `user:${count % 7}`, relation: 'viewer', object: `document:${count % 13}` };
        const response = await fetch(`${facts.base_url}/v1/grants`, {
          method: count % 3 === 0 ? 'DELETE' : 'POST',
          headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
          body: JSON.stringify(tuple),
        }).catch(() => undefined);
        await response?.arrayBuffer().catch(() => undefined);
        if (response === undefined) await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const writers = tenants.map(({ key }) => write(key));
    readers = await ResumingReaders.start(operator, () => facts.base_url, tenants);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const share = Math.floor((LIVES * kill) / KILLS);
      await waitFor(`${share} lives`, () => (readers?.lives ?? 0) >= share);
      await grantd.stop('SIGKILL');
      grantd = await startDev(directory, { environment });
    }
    writing = false;
    await Promise.all(writers);
    context.diagnostic(await readers.compare());
  } finally {
    writing = false;
    readers?.stop();
    await grantd.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  }
});
