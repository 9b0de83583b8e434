// `grantd testing`, started by the helper that applications have, for the tests of the clients themselves.

import { join } from 'node:path';
import { after } from 'node:test';
import { Grantd, type GrantdOptions } from '../../../clients/typescript/src/exports.ts';
import { startGrantd, type TestTenant } from '../../../clients/typescript/testing/testing.ts';
import { ROOT } from '../../kit/source-tree.ts';

export const TESTING_COMMAND = [process.execPath, join(ROOT, 'src', 'main.ts'), 'testing'] as const;

/** Ends with the tests of the file. */
export async function startTestingService() {
  const service = await startGrantd({ command: TESTING_COMMAND });
  after(() => service.stop());
  return {
    url: service.url,
    tenant() {
      const options: TestTenant = service.newTenant();
      return { options, client: (more: Partial<GrantdOptions> = {}) => new Grantd({ ...options, ...more }) };
    },
  };
}
