// A container of an image, as a cluster with the restricted Pod Security Standard would run it: by runc, as the image's
// own user, on a read-only root filesystem, with no capability and no way to a new privilege. It has no writable folder
// but the data directory, not even /tmp, and shares the network of the machine.

import { execFile } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { DevProcess } from '../../kit/dev-process.ts';
import type { UnpackedImage } from './unpacked-image.ts';

const run = promisify(execFile);
/** Where the data directory is in the container, as the Dockerfile has it. */
const DATA_DIRECTORY = '/var/lib/grantd';

export interface ContainerOptions {
  /** After the image's entry point. Default: what the image has. */
  readonly args?: readonly string[];
  /** In place of the image's entry point. */
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Default: true. */
  readonly readOnly?: boolean;
}

const NO_CAPABILITIES = { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] };

/** The configuration of an OCI runtime. */
function runtimeConfig({ rootDirectory, config }: UnpackedImage, dataDirectory: string, options: ContainerOptions) {
  const [uid, gid] = config.User.split(':').map(Number);
  const {
    entrypoint = config.Entrypoint,
    args = options.entrypoint === undefined ? config.Cmd : [],
    environment = {},
    readOnly = true,
  } = options;
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid, gid },
      args: [...entrypoint, ...args],
      cwd: config.WorkingDir,
      env: [...config.Env, ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)],
      capabilities: NO_CAPABILITIES,
      noNewPrivileges: true,
    },
    root: { path: rootDirectory, readonly: readOnly },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'strictatime', 'mode=755'] },
      { destination: DATA_DIRECTORY, type: 'bind', source: dataDirectory, options: ['bind', 'rw'] },
    ],
    linux: { namespaces: ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type })) },
  };
}

export class Container {
  /** The data directory, as it lies on this machine. */
  readonly dataDirectory: string;
  readonly process: DevProcess;
  readonly #directory: string;
  readonly #id: string;

  constructor(image: UnpackedImage, options: ContainerOptions) {
    this.#directory = mkdtempSync(join(tmpdir(), 'grantd-container-'));
    this.#id = basename(this.#directory);
    this.dataDirectory = join(this.#directory, 'data');
    mkdirSync(this.dataDirectory);
    const configuration = runtimeConfig(image, this.dataDirectory, options);
    const { uid = 0, gid = 0 } = configuration.process.user;
    chownSync(this.dataDirectory, uid, gid);
    writeFileSync(join(this.#directory, 'config.json'), JSON.stringify(configuration));
    this.process = new DevProcess(['run', '--bundle', this.#directory, this.#id], { PATH: process.env.PATH ?? '' }, [
      'runc',
      ...this.#state(),
    ]);
  }

  /** Each container has a folder of its own for what runc keeps. */
  #state(): string[] {
    return ['--root', join(this.#directory, 'state')];
  }

  /** Runs another command in it, and resolves with what that printed. */
  async execute(command: readonly string[]): Promise<string> {
    return (await run('runc', [...this.#state(), 'exec', this.#id, ...command])).stdout;
  }

  async #readProcessFile(name: string): Promise<string> {
    const { stdout } = await run('runc', [...this.#state(), 'state', this.#id]);
    const { pid }: { pid: number } = JSON.parse(stdout);
    return readFileSync(`/proc/${pid}/${name}`, 'utf8').trim();
  }

  /** What the kernel says of its first process, by name. */
  async readStatus(): Promise<ReadonlyMap<string, string>> {
    const lines = (await this.#readProcessFile('status')).split('\n');
    return new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as const),
    );
  }

  /** For how long the main thread of its first process could have run, but had no processor. */
  async readWaitingMs(): Promise<number> {
    const [, waitedNs = ''] = (await this.#readProcessFile('schedstat')).split(' ');
    return Number(waitedNs) / 1e6;
  }

  /** Ends it, if it has not, and forgets it with its data. */
  async remove(): Promise<void> {
    await run('runc', [...this.#state(), 'delete', '--force', this.#id]);
    await this.process.ended;
    rmSync(this.#directory, { recursive: true });
  }
}
