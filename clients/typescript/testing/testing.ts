// Starts grantd for tests, and gives each test a tenant of its own. Invariant: the service ends with the process that
// has started it, however that ends.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Grantd, type GrantdOptions } from '../src/exports.ts';
import { invalidOption, type KnownOf, knownMembers } from '../src/members.ts';

export interface TestingOptions {
  /** A service that runs already. Default: `GRANTD_TESTING_URL`; without that, a service is started. */
  readonly url?: string | undefined;
  /** The program that is started, and its arguments. Default: the service in this package. */
  readonly command?: readonly [string, ...string[]] | undefined;
}

/** What a client needs to call one tenant. */
export interface TestTenant {
  readonly url: string;
  /** With all scopes. */
  readonly key: string;
}

export interface TestingGrantd {
  readonly url: string;
  /** A new, empty tenant. */
  newTenant(): TestTenant;
  /** A client of a new, empty tenant. */
  client(options?: Omit<GrantdOptions, 'url' | 'key'>): Grantd;
  /** Ends the service, if it was started here. */
  stop(): Promise<void>;
}

const OPTIONS: KnownOf<TestingOptions> = { url: true, command: true };
const PROGRAM = fileURLToPath(new URL('./service/start.js', import.meta.url));
const isNode = !('bun' in process.versions) && !('deno' in process.versions);

async function startProgram([program, ...args]: readonly [string, ...string[]]) {
  const child = spawn(program, [...args, '--until-stdin-closes'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('exit', (code, signal) => resolve(`it ended with ${code ?? signal}`));
  });
  const line = new Promise<string>((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
  const failed = ended.then((reason) => {
    throw new Error(`grantd for tests did not start: ${reason}. The command: ${[program, ...args].join(' ')}`);
  });
  failed.catch(() => {});
  const { url }: { url: string } = JSON.parse(await Promise.race([line, failed]));
  // A test that forgets to stop it ends all the same, and the service with it.
  child.unref();
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as Socket).unref();
  const stop = async (): Promise<void> => {
    child.ref();
    child.stdin.end();
    await ended;
  };
  return { url, stop };
}

/** Resolves when the service answers. Call it once for many tests. */
export async function startGrantd(given: TestingOptions = {}): Promise<TestingGrantd> {
  const options = knownMembers(given, OPTIONS, 'options', invalidOption);
  const known = options.url ?? (options.command === undefined ? process.env.GRANTD_TESTING_URL : undefined);
  const command = options.command ?? [isNode ? process.execPath : 'node', PROGRAM];
  const { url, stop } = known ? { url: known, stop: async () => {} } : await startProgram(command);
  const newTenant = (): TestTenant => ({ url, key: `test_${randomUUID()}` });
  return { url, newTenant, client: (others) => new Grantd({ ...others, ...newTenant() }), stop };
}
