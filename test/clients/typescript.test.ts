// The TypeScript client performs the contract: on a real service behind the fault proxy, and on its fake.

import { join } from 'node:path';
import { it } from 'node:test';
import { runContract } from './support/contract.ts';

const CLIENT = join(import.meta.dirname, '..', '..', 'clients', 'typescript');
const command = [process.execPath, join(CLIENT, 'contract-runner.ts')] as const;

it('keeps the contract on a real service', () => runContract({ on: 'server', command }));

it('keeps the contract on its fake', () => runContract({ on: 'fake', command }));
