// The sources of the TypeScript client perform the contract: on a real service behind the fault proxy.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { CLIENT_TYPES, renderClientTypes } from '../../scripts/client-types.ts';
import { ERROR_CATALOGUE } from '../../src/core/errors.ts';
import { CLIENT } from './support/client-packages.ts';
import { runContract } from './support/contract.ts';
import { runFaults } from './support/fault-run.ts';
import { runMembers } from './support/member-run.ts';
import { runTexts } from './support/text-run.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const command = [process.execPath, join(CLIENT, 'contract-runner.ts')] as const;

it('the client keeps the contract on a real service', () => runContract({ command }));

it('the client or the service refuses each misspelt member of each call', () => runMembers({ command }));

it('the client meets the table of faults', () => runFaults({ command }));

it('the client sends random texts as they are, or not at all', () => runTexts({ command }, 'utf16'));

it('the types of the client are fresh', async () => {
  assert.equal(
    await renderClientTypes(),
    readFileSync(join(ROOT, CLIENT_TYPES), 'utf8'),
    'npm run generate -- types writes them',
  );
});

it('the client knows the error types of the service', () => {
  const source = readFileSync(join(CLIENT, 'src', 'error.ts'), 'utf8');
  const [, union = ''] = /export type ServiceErrorType =([^;]*);/.exec(source) ?? [];
  const known = [...union.matchAll(/'([a-z-]+)'/g)].map(([, type]) => type);
  assert.deepEqual(known.toSorted(), Object.keys(ERROR_CATALOGUE).toSorted());
});
