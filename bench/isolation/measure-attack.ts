// One attack: the victim alone, then the victim during the attack, and the effects on the service.

import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from './attack-list.ts';
import type { AttackReport, AttackTarget } from './attack-messages.ts';
import { AttackProgram, type VictimProgram } from './child-programs.ts';
import { type BurnJob, LoadRecording, prepareBurners } from './control.ts';
import { PartsObservation, type PartUse, readLostLeases } from './observed-parts.ts';
import { type ProbeResult, Probes } from './probes.ts';
import type { ServiceUnderAttack } from './service.ts';
import { type Attacker, callOperator, createAttacker } from './tenants.ts';
import type { VictimJob, VictimResult } from './victim-job.ts';

const RATIO_MAX = 2;
const IDLE_ATTEMPTS = 3;
/** How long the victim continues after the attacker has ended. */
const ENDING_MS = 500;
/** Before a control, so that what the attack has left to do is done. */
const REST_MS = 2000;

export interface Durations {
  /** Requests of the victim before the measurement, until the code for checks is compiled. */
  readonly warmUpRequests: number;
  readonly idleMs: number;
  readonly attackMs: number;
  /** The victim continues for this long even if the attack ends sooner. */
  readonly duringMs: number;
  /** A p99 that is always acceptable, whatever it is when idle; the benchmark's follows how busy the machine is. */
  readonly p99FloorMs: (strain: number) => number;
  /** Whether a p99 may also be as long as the service took for all connections of a flood. */
  readonly mayLastAsFlood: boolean;
  /** Whether the victim is measured again next to processes that only burn what the attacker took. */
  readonly hasControl: boolean;
}

export interface AttackMeasurement {
  readonly attack: Attack;
  readonly mode: ServiceUnderAttack['mode'];
  readonly idle: VictimResult;
  readonly during: VictimResult;
  /** While the attacker's connections end, all at once. */
  readonly ending: VictimResult;
  readonly control: VictimResult | undefined;
  readonly strain: number;
  readonly p99MsMax: number;
  readonly parts: readonly PartUse[];
  readonly probes: ProbeResult;
  readonly report: AttackReport;
  /** Undefined if it is unknown because a process has ended. */
  readonly lostLeases: number | undefined;
}

function attackerOf(
  { addresses, tenants }: ServiceUnderAttack,
  { tenant, plan }: Attack,
): Promise<Attacker> | Attacker {
  return tenant === 'new' ? createAttacker(addresses, plan) : tenants[tenant];
}

function targetOf(
  { addresses, parts, tenants }: ServiceUnderAttack,
  attacker: Attacker,
  durationMs: number,
): AttackTarget {
  return {
    baseUrl: addresses.base_url,
    consoleUrl: addresses.console_url,
    opsUrls: parts.map(({ opsUrl }) => opsUrl),
    tenantId: attacker.tenantId,
    key: attacker.key,
    adminKey: attacker.adminKey,
    operatorToken: addresses.operator_token,
    largeSubjects: tenants.largeSubjects,
    durationMs,
  };
}

async function measureVictim(victim: VictimProgram, job: VictimJob, during: () => Promise<void>) {
  await victim.start(job);
  const failure = await during().then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const result = await victim.stop();
  if (failure !== undefined) throw failure.error;
  return result;
}

const strainOf = (uses: readonly PartUse[]): number => Math.max(1, ...uses.map((use) => use.strain));

/** The recent start of the service, or other load on the machine, may spoil a measurement: the best one counts. */
async function measureIdle(
  { parts }: ServiceUnderAttack,
  victim: VictimProgram,
  job: VictimJob,
  { idleMs, p99FloorMs }: Pick<Durations, 'idleMs' | 'p99FloorMs'>,
): Promise<VictimResult> {
  let best: VictimResult | undefined;
  for (let attempt = 0; attempt < IDLE_ATTEMPTS; attempt += 1) {
    using observed = new PartsObservation(parts);
    const idle = await measureVictim(victim, job, () => delay(idleMs));
    const strain = strainOf(observed.stop());
    if (best === undefined || idle.latencyMs.p99 < best.latencyMs.p99) best = idle;
    if (RATIO_MAX * idle.latencyMs.p99 <= p99FloorMs(strain) + idle.echoP99Ms) break;
  }
  if (best === undefined) throw new Error('The victim was not measured alone.');
  return best;
}

async function measureControl(victim: VictimProgram, job: VictimJob, jobs: readonly BurnJob[]): Promise<VictimResult> {
  await delay(REST_MS);
  const burn = await prepareBurners(jobs);
  return measureVictim(victim, job, burn);
}

/** What the machine alone adds to a response: the longer of the echo's, and of the service's in the control. */
function machineMsOf(during: VictimResult, control: VictimResult | undefined): number {
  return Math.max(during.echoP99Ms, control?.latencyMs.p99 ?? 0);
}

export async function measureAttack(
  service: ServiceUnderAttack,
  victim: VictimProgram,
  attack: Attack,
  { warmUpRequests, idleMs, attackMs, duringMs, p99FloorMs, mayLastAsFlood, hasControl }: Durations,
): Promise<AttackMeasurement> {
  await service.restart({ isCold: attack.isCold === true, settings: attack.settings ?? {} });
  const { addresses, parts, tenants, mode } = service;
  const attacker = await attackerOf(service, attack);
  await callOperator(addresses, `/tenants/${attacker.tenantId}`, { method: 'PATCH', body: { plan: attack.plan } });
  using probes = await Probes.prepare({ probe: attack.probe, addresses, parts, attacker, durationMs: attackMs });
  const job: VictimJob = {
    url: addresses.base_url,
    echoUrl: victim.echoUrl,
    key: tenants.victim.key,
    requests: tenants.questions,
    reconnects: attack.victimReconnects === true,
  };
  await victim.warmUp(job, warmUpRequests);
  const idle = await measureIdle(service, victim, job, { idleMs, p99FloorMs });
  const lostBefore = await readLostLeases(parts);

  await using program = new AttackProgram(attack.name);
  using observed = new PartsObservation(parts);
  using load = new LoadRecording(program.pid, service.storePids);
  probes.start();
  let report: AttackReport | undefined;
  const during = await measureVictim(victim, job, async () => {
    [report] = await Promise.all([program.run(targetOf(service, attacker, attackMs)), delay(duringMs)]);
  });
  const jobs = load.stop();
  const ending = await measureVictim(victim, job, async () => {
    await program.end();
    await delay(ENDING_MS);
  });
  const probed = await probes.stop();
  const uses = observed.stop();
  if (report === undefined) throw new Error(`The attack ${attack.name} has reported nothing.`);
  const lostAfter = await readLostLeases(parts).catch(() => undefined);
  const strain = strainOf(uses);
  const control = hasControl ? await measureControl(victim, job, jobs) : undefined;
  return {
    attack,
    mode,
    idle,
    during,
    ending,
    control,
    strain,
    p99MsMax: Math.max(
      RATIO_MAX * idle.latencyMs.p99,
      p99FloorMs(strain) + machineMsOf(during, control),
      mayLastAsFlood ? (report.floodMs ?? 0) : 0,
    ),
    parts: uses,
    probes: probed,
    report,
    lostLeases: lostAfter === undefined ? undefined : lostAfter - lostBefore,
  };
}
