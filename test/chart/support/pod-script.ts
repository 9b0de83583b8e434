// A script of the chart, run as its pod does: with the program in the PATH and the operator's API of a service.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { BARE_ENVIRONMENT } from '../../kit/bare-environment.ts';
import { MAIN } from '../../kit/dev-process.ts';
import { useDirectory } from '../../kit/directory.ts';
import { type HttpService, startHttpService } from '../../kit/http-service.ts';
import { CHART } from './helm.ts';

export const TOKEN = 'the-operator-token-of-the-pods-of-the-test';
const RUN_MS_MAX = 240_000;

export const scriptOf = (name: string): string => readFileSync(join(CHART, 'files', `${name}.mjs`), 'utf8');

export interface PodService {
  /** It has the program, and may hold more. */
  readonly directory: string;
  readonly service: () => HttpService;
  readonly environment: () => Record<string, string>;
  /** Ends with the code and all output. */
  run(script: string, set: Readonly<Record<string, string>>): Promise<{ code: number | null; output: string }>;
}

/** A service without tenants, for the tests around. `ahead`: shell commands ahead of the program. */
export function usePodService(ahead = ''): PodService {
  const directory = useDirectory();
  let service: HttpService | undefined;
  before(async () => {
    service = await startHttpService({ GRANTD_OPERATOR_TOKEN: TOKEN, GRANTD_DEMO: 'false' });
    writeFileSync(join(directory, 'token'), TOKEN);
    const program = `#!/bin/sh\n${ahead}exec "${process.execPath}" "${MAIN}" "$@"\n`;
    writeFileSync(join(directory, 'grantd'), program, { mode: 0o755 });
  });
  after(() => service?.stop());
  const running = (): HttpService => {
    if (service === undefined) throw new Error('No service runs.');
    return service;
  };
  const environment = (): Record<string, string> => ({
    ...BARE_ENVIRONMENT,
    PATH: `${directory}:${process.env.PATH}`,
    GRANTD_OPERATOR_URL: running().consoleUrl,
    GRANTD_OPERATOR_TOKEN_FILE: join(directory, 'token'),
  });
  return {
    directory,
    service: running,
    environment,
    async run(script, set) {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
        env: { ...environment(), ...set },
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: RUN_MS_MAX,
      });
      const chunks: Buffer[] = [];
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      const [code] = await once(child, 'close');
      return { code, output: Buffer.concat(chunks).toString() };
    },
  };
}
