// The victim and the attacks as processes of their own, so that what they take of a processor is not the other's.

import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { type EchoProcess, startEcho } from '../server/echo-process.ts';
import { type AttackReport, type AttackTarget, type FromAttack, PREPARATION_MS_MAX } from './attack-messages.ts';
import type { FromVictim, ToVictim, VictimJob, VictimResult } from './victim-job.ts';

/** An attack that does not end by itself in that time after its own. */
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
    if (answer.kind !== 'done') throw new Error('The victim tells no result.');
    return answer.result;
  }

  close(): void {
    if (this.#child.connected) this.#child.disconnect();
    this.#echo.close();
  }
}

/** Resolves when the attack is over, and its process and all its connections are gone. */
export function runAttackProgram(name: string, target: AttackTarget): Promise<AttackReport> {
  const child = fork(join(import.meta.dirname, 'attacks', `${name}.ts`), { serialization: 'advanced' });
  const late = setTimeout(() => child.kill('SIGKILL'), target.durationMs + PREPARATION_MS_MAX + LATE_MS_MAX);
  let last: FromAttack = { kind: 'failed', message: 'its process ended without a report' };
  child.on('message', (message: FromAttack) => {
    last = message;
  });
  child.send(target);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => {
      clearTimeout(late);
      if (last.kind === 'done') resolve(last.report);
      else reject(new Error(`The attack ${name} failed: ${last.message}`));
    });
  });
}
