// The commands in this process: a command line in, exit code and output out.

import assert from 'node:assert/strict';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { Command } from 'commander';
import type { CliDependencies } from '../../../packages/cli/src/cli-context.ts';
import { registerSecretsCommand } from '../../../packages/cli/src/commands/secrets.ts';
import { registerCliCommands } from '../../../packages/cli/src/commands.ts';
import type { Endpoint, ServiceChoice } from '../../../packages/cli/src/service-choice.ts';
import { openEmbeddedShard } from '../../../src/roles/embedded.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { type ConsoleService, OPERATOR_TOKEN, useConsole } from '../../kit/console-service.ts';
import { waitFor } from '../../kit/wait-for.ts';

export interface CliRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliRunOptions {
  /** The operator's API. */
  readonly target?: { readonly url: string; readonly token: string };
  /** The API, with an API key. */
  readonly key?: Endpoint;
  /** In place of the two. */
  readonly chooseService?: CliDependencies['chooseService'];
  readonly contexts?: CliDependencies['contexts'];
  readonly stdin?: string | Readable;
  /** Whether standard input and standard error are a terminal. */
  readonly terminal?: boolean;
  /** Of a terminal to which standard output goes. */
  readonly columns?: number;
  /** Of the settings. */
  readonly tenant?: string;
  readonly nowMs?: () => number;
  readonly fetch?: typeof fetch;
  readonly onInterrupt?: CliDependencies['onInterrupt'];
  /** In place of one that collects. */
  readonly stdout?: Writable;
  /** Told all that standard output has been given, as more comes. */
  readonly onStdout?: (text: string) => void;
}

class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

function collect(onMore?: (text: string) => void): { readonly stream: PassThrough; text(): string } {
  const stream = new PassThrough();
  const chunks: Buffer[] = [];
  const text = (): string => Buffer.concat(chunks).toString('utf8');
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    onMore?.(text());
  });
  return { stream, text };
}

const choiceOf = ({ target, key, tenant }: CliRunOptions): ServiceChoice => ({
  source: 'the test',
  key,
  operator: target && { url: target.url, secret: target.token },
  tenant,
});

export async function runCli(args: readonly string[], options: CliRunOptions): Promise<CliRun> {
  const stdout = collect(options.onStdout);
  const stderr = collect();
  const stdin = options.stdin instanceof Readable ? options.stdin : Readable.from([Buffer.from(options.stdin ?? '')]);
  const isTTY = options.terminal === true;
  let code = 0;
  const program = new Command('grantd').configureOutput({
    writeOut: (text) => (options.stdout ?? stdout.stream).write(text),
    writeErr: (text) => stderr.stream.write(text),
  });
  const dependencies: CliDependencies = {
    version: '1.2.3',
    chooseService: options.chooseService ?? (() => choiceOf(options)),
    stdin: Object.assign(stdin, { isTTY }),
    stdout: Object.assign(
      options.stdout ?? stdout.stream,
      options.columns === undefined ? {} : { isTTY: true, columns: options.columns },
    ),
    json: args.includes('--json'),
    openShard: () => openEmbeddedShard({ clock: systemClock, random: systemRandom }),
    stderr: Object.assign(stderr.stream, { isTTY }),
    setExitCode: (value) => {
      code = value;
    },
    exit: (value) => {
      throw new Exit(value);
    },
    // What a command waits for is there at once in a test.
    pause: async (_delayMs, signal) => {
      await new Promise((resolve) => setImmediate(resolve));
      return !signal.aborted;
    },
    ...(options.contexts === undefined ? {} : { contexts: options.contexts }),
    ...(options.nowMs === undefined ? {} : { nowMs: options.nowMs }),
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    ...(options.onInterrupt === undefined ? {} : { onInterrupt: options.onInterrupt }),
  };
  registerCliCommands(program, dependencies, [registerSecretsCommand]);
  try {
    await program.parseAsync(['node', 'grantd', ...args]);
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    code = error.code;
  }
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** The operator's commands, on a console of the tests around. */
export interface OperatorCli {
  readonly service: ConsoleService;
  readonly grantd: (args: readonly string[], options?: Partial<CliRunOptions>) => Promise<CliRun>;
  /** Makes a tenant with the grants of these lines. Returns its id. */
  readonly createTenant: (name?: string, grants?: string) => Promise<string>;
  readonly start: (args: readonly string[], options?: Partial<CliRunOptions>) => StartedCommand;
}

/** A command that runs until it is interrupted. */
export interface StartedCommand {
  readonly ended: Promise<CliRun>;
  readonly waitToShow: (text: string) => Promise<void>;
  readonly interrupt: () => void;
}

export async function useOperatorCli(): Promise<OperatorCli> {
  const service = await useConsole();
  const target = { url: service.url, token: OPERATOR_TOKEN };
  const grantd: OperatorCli['grantd'] = (args, options) => runCli(args, { target, ...options });
  const createTenant = async (name = 'Acme', grants = ''): Promise<string> => {
    const { code, stdout, stderr } = await grantd(['tenants', 'create', name, '--json']);
    assert.equal(code, 0, stderr);
    const id: string = JSON.parse(stdout).tenant_id;
    if (grants !== '') assert.equal((await grantd(['import', '-', '--tenant', id], { stdin: grants })).code, 0);
    return id;
  };
  const start: OperatorCli['start'] = (args, options) => {
    let interrupt = (): void => {};
    let shown = '';
    const ended = grantd(args, {
      onInterrupt: (listener) => {
        interrupt = listener;
        return () => {};
      },
      onStdout: (text) => {
        shown = text;
      },
      ...options,
    });
    const waitToShow = (text: string) => waitFor(`${text} to be shown`, () => new RegExp(`${text}\\b`).test(shown));
    return { ended, waitToShow, interrupt: () => interrupt() };
  };
  return { service, grantd, createTenant, start };
}
