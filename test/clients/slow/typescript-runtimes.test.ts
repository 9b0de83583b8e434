// The packages of the TypeScript client on every runtime that they support, the oldest Node among them.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { reportMissing } from '../../../tools/engines/engine-script.ts';
import { BUN, DENO, installNpmProgram, NODE_20 } from '../../../tools/engines/npm-program.ts';
import type { HttpService } from '../../kit/http-service.ts';
import { buildClientPackages, CLIENT, type ClientPackages, compile } from '../support/client-packages.ts';
import { runContract, startContractService } from '../support/contract.ts';

/** The one case in which a runtime whose `fetch` repeats a PUT by itself may differ, as README.md says. */
const REPEATED_PUT =
  'a revision that fails after a lost response says that the outcome is unknown: step 2 (writeRules)';

let packages: ClientPackages;
let service: HttpService;

before(async () => {
  [packages, service] = await Promise.all([buildClientPackages(), startContractService()]);
});
after(async () => {
  packages.remove();
  await service.stop();
});

// They wait for deadlines most of the time.
describe('the packages on other runtimes', { concurrency: true }, () => {
  for (const { title, program, options } of [
    { title: 'the oldest Node that they support', program: NODE_20, options: [] },
    { title: 'Deno', program: DENO, options: ['run', '--allow-all', '--no-remote', '--node-modules-dir=manual'] },
    { title: 'Bun', program: BUN, options: ['run', '--no-install'] },
  ] as const) {
    it(`keep the contract on ${title}`, async (t: TestContext) => {
      const command = await installNpmProgram(program).catch((error: unknown) => {
        t.skip(reportMissing(`the client on ${title}`, String(error)));
        return undefined;
      });
      if (command === undefined) return;
      const runner = join(packages.directory, `contract-runner-${program.name}.mjs`);
      await compile(join(CLIENT, 'contract-runner.ts'), runner);
      const environment = { CLIENT_PACKAGES: 'built' };
      const onServer = runContract({ service, command: [command, ...options, runner], environment });
      await onServer.catch((error: unknown) => {
        const differing = error instanceof assert.AssertionError ? error.actual : undefined;
        if (program === NODE_20 || !Array.isArray(differing)) throw error;
        assert.deepEqual(
          differing.filter((each) => !String(each).startsWith(REPEATED_PUT)),
          [],
        );
      });
    });
  }
});
