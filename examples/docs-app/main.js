// Starts the application: GRANTD_URL and GRANTD_KEY say where grantd is, PORT where the application listens.

import { readFile } from 'node:fs/promises';
import { Grantd } from '@grantd/client';
import { createApp } from './app.js';
import { finishDeletions } from './deletion.js';
import { logError } from './errors.js';

const { PORT = '3000', TIMEOUT_MS = '2000' } = process.env;
/** A change of the rules may wait while grantd starts or moves a tenant; a person in front of a page does not. */
const START_MS = 30_000;
const DELETIONS_EVERY_MS = 5000;

const grantd = new Grantd({ timeoutMs: Number(TIMEOUT_MS) });

// This needs a key with the scope `admin`. In production, a pipeline writes the rules, and the key of the application
// has only `check:read` and `grant:write`.
const rules = await readFile(new URL('rules.grantd', import.meta.url), 'utf8');
await grantd.writeRules({ rule_set: rules }, { timeoutMs: START_MS });

setInterval(() => finishDeletions(grantd).catch(logError), DELETIONS_EVERY_MS);

const server = createApp(grantd).listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const address = server.address();
  if (address !== null && typeof address !== 'string') console.log(`http://127.0.0.1:${address.port}`);
});
