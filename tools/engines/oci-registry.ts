// A registry of images and charts for tests: that of crane, on an address of this machine, in plain HTTP, empty at its
// start. A shell runs it and ends it when this process ends, however it ends.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '../../test/kit/wait-for.ts';
import { missingFor } from './engine-script.ts';
import { freePort } from './free-port.ts';
import { PROGRAMS_DIRECTORY } from './tools-directory.ts';

const TOOLS = join(import.meta.dirname, 'kubernetes', 'tools.sh');
const CRANE = join(PROGRAMS_DIRECTORY, 'crane');
const LOOPBACK = '127.0.0.1';
const START_MS_MAX = 60_000;
const COMMAND_MS_MAX = 120_000;
/** Ends the registry at the end of its own input. */
const KEEPER = '"$@" & cat > /dev/null; kill -9 $!; wait';
const run = promisify(execFile);

/** Undefined if a registry can be started; otherwise why not. The first call on a machine takes a minute. */
export const missingRegistry = (what: string): Promise<string | undefined> =>
  missingFor(what, 'There is no crane, and Go or its modules are missing on this machine.', TOOLS, [
    'install',
    'crane',
  ]);

export class OciRegistry {
  /** `host:port`, as references to images begin. */
  readonly address: string;
  readonly #directory: string;
  readonly #keeper: ChildProcess;

  /** Without a port: any free one. */
  static async start(host = LOOPBACK, port?: number): Promise<OciRegistry> {
    const registry = new OciRegistry(`${host}:${port ?? (await freePort())}`);
    const isServing = async (): Promise<boolean> => {
      const response = await fetch(`http://${registry.address}/v2/`).catch(() => undefined);
      return response?.ok ?? false;
    };
    await waitFor(`the registry at ${registry.address}`, isServing, START_MS_MAX);
    return registry;
  }

  private constructor(address: string) {
    this.address = address;
    this.#directory = mkdtempSync(join(tmpdir(), 'grantd-registry-'));
    const serve = [CRANE, 'registry', 'serve', '--address', address, '--disk', this.#directory];
    this.#keeper = spawn('bash', ['-c', KEEPER, 'registry-keeper', ...serve], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
  }

  /** Runs a command of crane, which reads and writes any registry, and returns its output. */
  async crane(...words: readonly string[]): Promise<string> {
    const { stdout } = await run(CRANE, [...words, '--insecure'], { timeout: COMMAND_MS_MAX });
    return stdout.trim();
  }

  async stop(): Promise<void> {
    this.#keeper.stdin?.end();
    if (this.#keeper.exitCode === null) await once(this.#keeper, 'exit');
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
