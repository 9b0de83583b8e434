// A machine that can be lost: a network namespace with one address, joined to that of the test. Lost, it swallows every
// packet and answers none, as a machine without power; nothing tells the other side. The kernel removes all of it when
// the process that holds the namespace ends.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MAC = '02:00:00:00:00:02';

export class LostMachine {
  /** Of the test, as the machine sees it. */
  readonly hostAddress: string;
  readonly address: string;
  readonly #holder: ChildProcess;
  /** The end of the wire. */
  readonly #outside: string;

  /** Rejects without the rights of root over the network. */
  static async start(): Promise<LostMachine> {
    const holder = spawn(
      'setpriv',
      ['--pdeathsig', 'KILL', 'unshare', '--net', 'sh', '-c', 'echo; exec sleep infinity'],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    if (holder.stdout === null) throw new Error('It has no output.');
    await Promise.race([
      once(holder.stdout, 'data'),
      once(holder, 'exit').then(() => Promise.reject(new Error('No namespace was made.'))),
    ]);
    const machine = new LostMachine(holder);
    await machine.#join();
    return machine;
  }

  private constructor(holder: ChildProcess) {
    this.#holder = holder;
    this.#outside = `gt${holder.pid}`;
    const network = `10.213.${1 + Math.floor(Math.random() * 250)}`;
    this.hostAddress = `${network}.1`;
    this.address = `${network}.2`;
  }

  /** Before a command that is to run on the machine. */
  get command(): readonly [string, ...string[]] {
    return ['setpriv', '--pdeathsig', 'KILL', 'nsenter', `--net=/proc/${this.#holder.pid}/ns/net`];
  }

  async #join(): Promise<void> {
    const outside = this.#outside;
    await run('ip', ['link', 'add', outside, 'type', 'veth', 'peer', 'name', 'wire', 'netns', `${this.#holder.pid}`]);
    await run('ip', ['address', 'add', `${this.hostAddress}/30`, 'dev', outside]);
    await run('ip', ['link', 'set', outside, 'up']);
    // The address stays known, as behind a router.
    await run('ip', ['neighbour', 'replace', this.address, 'lladdr', MAC, 'nud', 'permanent', 'dev', outside]);
    await this.#inside('link', 'set', 'lo', 'up');
    await this.#inside('link', 'set', 'wire', 'address', MAC);
    await this.#inside('address', 'add', `${this.address}/30`, 'dev', 'wire');
    await this.#inside('link', 'set', 'wire', 'up');
  }

  async #inside(...args: readonly string[]): Promise<void> {
    const [program, ...before] = this.command;
    await run(program, [...before, 'ip', ...args]);
  }

  /** It swallows everything from here on. The wire stays: without one, the kernel of the sender would know. */
  lose(): Promise<void> {
    return this.#inside('address', 'flush', 'dev', 'wire');
  }

  async end(): Promise<void> {
    this.#holder.kill('SIGKILL');
    // Otherwise it stays until the last process of the machine has ended.
    await run('ip', ['link', 'delete', this.#outside]);
  }
}
