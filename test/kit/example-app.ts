// An example application, in a checkout of its own: installed and started with the commands of its page, or started
// again on the oldest Node that it supports.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { BARE_ENVIRONMENT } from './bare-environment.ts';
import { shellBlocks } from './shell-blocks.ts';
import { linkedInstall, makeUserCheckout } from './user-checkout.ts';

const PAGE = 'examples/docs-app/README.md';
/** A call of the application to grantd takes as long as it does on a busy machine. */
const TIMEOUT_MS = '120000';

export interface ExampleApp {
  readonly url: string;
  stop(): Promise<void>;
}

export interface Grantd {
  readonly url: string;
  readonly key: string;
}

/** Resolves with the address that the application prints. */
export async function startExample(
  command: readonly [string, ...string[]],
  directory: string,
  environment: Readonly<Record<string, string>>,
): Promise<ExampleApp> {
  const [program, ...args] = command;
  const env = { ...BARE_ENVIRONMENT, HOME: directory, PORT: '0', TIMEOUT_MS, ...environment };
  // A process group of its own, which ends as a whole.
  const child = spawn(program, args, {
    cwd: directory,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const exited = once(child, 'exit');
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, 'SIGKILL');
    }
    await exited;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('http://')) return { url: line, stop };
  }
  await stop();
  throw new Error(`The application ended before it served:\n${log}`);
}

/** Runs the commands of the page in a new checkout, which is left ready for `restartDocsApp`. */
export function startDocsApp(checkout: string, grantd: Grantd): Promise<ExampleApp> {
  makeUserCheckout(checkout);
  mkdirSync(join(checkout, '.grantd'), { recursive: true });
  writeFileSync(join(checkout, '.grantd', 'dev.json'), JSON.stringify({ key: grantd.key }, undefined, 2));
  const commands = shellBlocks(PAGE).join('').replaceAll('http://127.0.0.1:8080', grantd.url);
  return startExample(['bash', '-euc', `${linkedInstall(checkout)}\n${commands}`], checkout, {});
}

/** Starts an application that was installed by `startDocsApp`. */
export function restartDocsApp(checkout: string, { url, key }: Grantd, node: string): Promise<ExampleApp> {
  return startExample([node, 'main.js'], join(checkout, 'examples', 'docs-app'), { GRANTD_URL: url, GRANTD_KEY: key });
}
