// Runs the victim and the attacks as separate processes, so that their processor times do not mix.

import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { type EchoProcess, startEcho } from '../server/echo-process.ts';
import { type AttackReport, type AttackTarget, type FromAttack, PREPARATION_MS_MAX } from './attack-messages.ts';
import type { FromVictim, ToVictim, VictimJob, VictimResult } from './victim-job.ts';

/** How long an attack may overrun its own duration. */
const LATE_MS_MAX = 15_000;

export class VictimProgram {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, 'victim-process.ts'), { serialization: 'advanced' });
  readonly #echo: EchoProcess;

  static async start(): Promise<VictimProgram> {
    return new VictimProgram(await startEcho());
  }

  private constructor(echo: EchoProcess) {
    this.#echo = echo;
  }

  get echoUrl(): string {
    return this.#echo.url;
  }

  async #tell(message: ToVictim): Promise<FromVictim> {
    const { promise, resolve, reject } = Promise.withResolvers<FromVictim>();
    const onExit = (): void => reject(new Error("The victim's process ended."));
    this.#child.once('exit', onExit);
    this.#child.once('message', resolve);
    this.#child.send(message);
    const answer = await promise;
    this.#child.removeListener('exit', onExit);
    if (answer.kind === 'failed') throw new Error(answer.message);
    return answer;
  }

  async warmUp(job: VictimJob, requests: number): Promise<void> {
    await this.#tell({ kind: 'warm-up', job, requests });
  }

  async start(job: VictimJob): Promise<void> {
    await this.#tell({ kind: 'start', job });
  }

  async stop(): Promise<VictimResult> {
    const answer = await this.#tell({ kind: 'stop' });
    if (answer.kind !== 'done') throw new Error('The victim sent no result.');
    return answer.result;
  }

  close(): void {
    if (this.#child.connected) this.#child.disconnect();
    this.#echo.close();
  }
}

/**
 * An attack. Its connections stay open until it is ended, so that the attack and the end of its connections are
 * measured separately.
 */
export class AttackProgram {
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  constructor(name: string) {
    this.#name = name;
    this.#child = fork(join(import.meta.dirname, 'attacks', `${name}.ts`), { serialization: 'advanced' });
    this.#ended = new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      // The process could not even start.
      this.#child.once('error', () => resolve());
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves when the attack is done, or its time is over. */
  async run(target: AttackTarget): Promise<AttackReport> {
    const late = setTimeout(() => this.#child.kill('SIGKILL'), target.durationMs + PREPARATION_MS_MAX + LATE_MS_MAX);
    const reported = new Promise<FromAttack>((resolve) => this.#child.once('message', resolve));
    this.#child.send(target);
    const unreported: Promise<FromAttack> = this.#ended.then(() => ({
      kind: 'failed',
      message: 'its process ended without a report',
    }));
    const last = await Promise.race([reported, unreported]);
    clearTimeout(late);
    if (last.kind === 'done') return last.report;
    throw new Error(`The attack ${this.#name} failed: ${last.message}`);
  }

  /** Resolves when its process and all its connections have ended. */
  async end(): Promise<void> {
    // No effect if it has already ended.
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}
