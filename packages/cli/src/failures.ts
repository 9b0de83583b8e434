// How a command fails: with an error of the service, with a failed connection to it, with an error on this side,
// or with wrong usage. Each failure can describe itself in a few lines and has an exit code. Imports no command,
// because a process that serves loads this file too.

import type { Writable } from 'node:stream';
import type { Command, CommanderError } from 'commander';

/** The exit codes of every command; docs/operating/cli.md lists them. */
export const EXIT = Object.freeze({
  ok: 0,
  failed: 1,
  usage: 2,
  /** `check`: the answer is no. */
  denied: 3,
  /** `import`: completed, but lines were refused. */
  linesRefused: 4,
  /** 128 + SIGINT, the convention of shells. */
  interrupted: 130,
});

type Hints = Readonly<Record<string, string>>;
const WHICH = '"grantd context show" says which service and which secret are in use.';

/** What to do next, per error code, if the command line knows. */
const HINTS: Hints = Object.freeze({
  'tenant-not-found': '"grantd tenants list" shows the existing tenants.',
  'key-not-found': '"grantd keys list" shows the existing keys.',
  'rules-version-not-found': '"grantd rules history" shows the versions that are kept.',
  'grant-not-found': '"grantd grants list" shows the grants of a subject.',
  'precondition-failed': 'They have changed in the meantime. Look at them again: "grantd rules show".',
  'invalid-cursor':
    'A cursor is valid only for the same command with the same arguments. Start again without --cursor.',
  'cursor-too-old':
    'Changes are missing after it. Read them tenant by tenant, with --tenant and --since, and start again without the cursor.',
  unavailable: 'Try again. Repeating is safe, except that "tenants create" and "keys create" may create a second one.',
  overloaded: 'Nothing was done. Try again in a moment.',
});

const OPERATOR_HINTS: Hints = Object.freeze({
  unauthorized: `Does the operator's token belong to this service? ${WHICH}`,
  'key-limit-reached': 'Revoke keys with "grantd keys revoke", or raise the limit with "grantd tenants update --plan".',
  'grant-limit-reached': 'Revoke grants, or raise the limit with "grantd tenants update --plan".',
  'namespace-limit-reached':
    'Raise the limit with "grantd tenants update --plan"; "grantd plans" shows the limit of each plan.',
});
const PUBLIC_HINTS: Hints = Object.freeze({
  unauthorized: `Does the API key belong to this service, and was it not revoked? ${WHICH}`,
  'insufficient-scope': `The API key may not do this: it needs another scope. ${WHICH}`,
  'tenant-suspended': "The service's operator has suspended the tenant of this API key.",
  'rate-limited': 'Try again later, or ask the operator of the service for a larger plan.',
  'key-limit-reached': 'Revoke keys with "grantd keys revoke", or ask the operator of the service for a larger plan.',
  'grant-limit-reached': 'Revoke grants, or ask the operator of the service for a larger plan.',
  'namespace-limit-reached': 'Ask the operator of the service for a larger plan.',
});

function hintOf(code: string, api: 'public' | 'operator'): string | undefined {
  const hints = [api === 'operator' ? OPERATOR_HINTS : PUBLIC_HINTS, HINTS];
  return hints.find((each) => Object.hasOwn(each, code))?.[code];
}

export const UNREACHABLE_HINT = `Is the service running at this address? ${WHICH}`;

export class CliFailure extends Error {
  readonly exitCode: number;

  /** The message without what to do with the command line. */
  readonly fault: string = this.message;

  /** What `--json` adds to the message and the exit code. */
  get facts(): Readonly<Record<string, unknown>> {
    return {};
  }

  constructor(message: string, exitCode: number = EXIT.failed, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CliFailure';
    this.exitCode = exitCode;
  }
}

/** The service answered with an error. */
export class ProblemFailure extends CliFailure {
  readonly status: number;
  readonly #title: string;
  readonly detail: string;
  readonly #requestId: string;
  /** The last part of the problem's type: the code of the error catalogue. */
  readonly code: string;
  /** The delay that the response requests, if any. */
  readonly retryAfterMs: number | undefined;
  readonly #hint: string | undefined;
  override readonly fault: string;

  constructor(
    problem: {
      readonly status: number;
      readonly code: string;
      readonly title: string;
      readonly detail: string;
      readonly requestId: string;
    },
    api: 'public' | 'operator',
    retryAfterMs: number | undefined,
  ) {
    const request = problem.requestId === '' ? '' : `\n  request ${problem.requestId}`;
    const hint = hintOf(problem.code, api);
    const fault = `${problem.title}: ${problem.detail}\n  status ${problem.status}, ${problem.code}${request}`;
    super(hint === undefined ? fault : `${fault}\n  ${hint}`);
    this.fault = fault;
    this.#hint = hint;
    this.status = problem.status;
    this.code = problem.code;
    this.retryAfterMs = retryAfterMs;
    this.#title = problem.title;
    this.detail = problem.detail;
    this.#requestId = problem.requestId;
  }

  override get facts(): Readonly<Record<string, unknown>> {
    return {
      message: `${this.#title}: ${this.detail}`,
      status: this.status,
      code: this.code,
      ...(this.#requestId === '' ? {} : { request_id: this.#requestId }),
      ...(this.#hint === undefined ? {} : { hint: this.#hint }),
    };
  }
}

/** No response came, or it broke off. Whether the call took effect is unknown. */
export class ConnectionFailure extends CliFailure {
  override readonly fault: string;

  constructor(fault: string, { hint, cause }: { readonly hint?: string; readonly cause: unknown }) {
    super(hint === undefined ? fault : `${fault}\n  ${hint}`, undefined, { cause });
    this.fault = fault;
  }
}

/** Runs an import of what may be missing. Throws a CliFailure then. */
export async function loadInstalled<Module>(load: () => Promise<Module>, missing: string): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND')) throw cause;
    throw new CliFailure(missing, EXIT.failed, { cause });
  }
}

/** For standard error: text for people, or one line of JSON for programs. */
export function renderFailure(failure: CliFailure, json: boolean): string {
  if (!json) return `grantd: ${failure.message}`;
  return JSON.stringify({ error: { message: failure.message, exit_code: failure.exitCode, ...failure.facts } });
}

/** The innermost cause names the system's reason (`connect ECONNREFUSED …`). */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error.message === '' ? error.name : error.message;
}

/** What the last write has failed with, before the stream tells anybody; not that its reader has left. */
function lossOf({ errored }: Writable): Error | undefined {
  return errored === null || ('code' in errored && errored.code === 'EPIPE') ? undefined : errored;
}

/**
 * For the whole program: requested help ends with 0, wrong usage with 2, since 1 is for commands that ran and failed.
 */
export function exitOnUsage(
  command: Command,
  dependencies: {
    readonly stdout: Writable;
    readonly stderr: Writable;
    readonly json?: boolean;
    readonly exit?: (code: number) => never;
  },
): void {
  const { stdout, stderr, json = false } = dependencies;
  const exit = dependencies.exit ?? ((code: number): never => process.exit(code));
  command.configureOutput({
    // Every failure begins like this.
    outputError: (text, write) => write(text.replace(/^error: /, 'grantd: ')),
    // Programs get one line instead of the message and the help.
    ...(json ? { writeErr: () => {} } : {}),
  });
  command.exitOverride(({ exitCode, code, message }: CommanderError) => {
    if (exitCode === 0) {
      const lost = lossOf(stdout);
      if (lost !== undefined) {
        stderr.write(`${renderFailure(new CliFailure(`The output cannot be written (${lost.message}).`), json)}\n`);
      }
      exit(lost === undefined ? EXIT.ok : EXIT.failed);
    }
    if (json) {
      const what = code === 'commander.help' ? 'A command is missing; --help lists them.' : message;
      stderr.write(`${renderFailure(new CliFailure(what.replace(/^error: /, ''), EXIT.usage), true)}\n`);
    }
    exit(EXIT.usage);
  });
  for (const child of command.commands) exitOnUsage(child, dependencies);
}
