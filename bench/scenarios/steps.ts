// How long the worst valid request of each operation holds the event loop, and with it the requests of everybody else:
// the longest delay of the loop of a service as one process, while one such request is served.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Figure } from '../figure.ts';
import type { BenchContext, Scenario } from '../scenario.ts';
import { delay, GrantdProcess } from '../server/grantd-process.ts';
import { createTenant, importGrants, type TenantAccess, writeRules } from '../server/operator.ts';
import { median } from '../statistics.ts';
import { GRANTS, RULES, WORST_REQUESTS, type WorstRequest } from '../steps/worst-requests.ts';

/** A little more than a turn that yields once it has taken its share. */
const STEP_MS_MAX = 10;
const REPORTER = join(import.meta.dirname, '..', 'server', 'step-reporter.ts');
const ROUNDS = 9;
const ROUNDS_QUICK = 3;
const REPORT_POLL_MS = 2;
const SETTLE_MS = 30;
const REQUEST_MS_MAX = 60_000;

class StepMeter {
  readonly #service: GrantdProcess;
  readonly #file: string;

  constructor(service: GrantdProcess, file: string) {
    this.#service = service;
    this.#file = file;
  }

  /** The longest step since the last call. */
  async take(): Promise<number> {
    rmSync(this.#file, { force: true });
    process.kill(this.#service.pid, 'SIGUSR2');
    for (;;) {
      await delay(REPORT_POLL_MS);
      const text = existsSync(this.#file) ? readFileSync(this.#file, 'utf8') : '';
      if (text !== '') return Number(text);
    }
  }
}

async function send(url: string, key: string, { method, path, body, name }: WorstRequest): Promise<void> {
  const response = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(REQUEST_MS_MAX),
  });
  const text = await response.text();
  // A refusal for its cost is a valid end of a worst request; an error of the service or of the request is not.
  const isMeant = response.ok || [404, 409, 422].includes(response.status);
  if (!isMeant) throw new Error(`${name}: ${response.status} ${text.slice(0, 300)}`);
}

/** Every operation of the API has to be among the requests. */
async function demandEveryOperation(url: string, key: string): Promise<void> {
  const response = await fetch(`${url}/openapi.json`, { headers: { Authorization: `Bearer ${key}` } });
  const document: { paths: Record<string, Record<string, { operationId?: string }>> } = JSON.parse(
    await response.text(),
  );
  const ids = Object.values(document.paths).flatMap((path) =>
    Object.values(path).flatMap((each) => each.operationId ?? []),
  );
  const missing = ids.filter((id) => !WORST_REQUESTS.some(({ operation }) => operation === id));
  if (missing.length > 0) throw new Error(`No worst request is known for ${missing.join(', ')}.`);
}

async function measure(context: BenchContext, service: GrantdProcess, meter: StepMeter, access: TenantAccess) {
  const { base_url: url, key } = { ...service.addresses, key: access.key };
  const figures: Figure[] = [];
  for (const request of WORST_REQUESTS) {
    if (context.only.length > 0 && !context.only.includes(request.operation)) continue;
    context.progress(`${request.operation}: ${request.name}`);
    const rounds: number[] = [];
    // The first is served by code that is not compiled yet.
    await send(url, key, request);
    for (let round = 0; round < (context.quick ? ROUNDS_QUICK : ROUNDS); round += 1) {
      await delay(SETTLE_MS);
      await meter.take();
      await send(url, key, request);
      await delay(SETTLE_MS);
      rounds.push(await meter.take());
    }
    figures.push({
      name: 'longest step',
      row: `${request.operation}: ${request.name}`,
      value: median(rounds),
      unit: 'ms',
      target: { kind: 'at most', value: STEP_MS_MAX },
      rounds,
    });
  }
  return figures;
}

export const stepsScenario: Scenario = {
  name: 'steps',
  summary: `the longest synchronous step of the worst valid request of each operation: at most ${STEP_MS_MAX} ms`,
  parts: [...new Set(WORST_REQUESTS.map(({ operation }) => operation))].map((name) => ({
    name,
    summary: 'the requests of this operation',
  })),
  failsOnMiss: true,
  async run(context) {
    const file = join(context.createDirectory(), 'longest-step');
    const service = await GrantdProcess.start({
      directory: context.createDirectory(),
      searchPath: context.searchPath,
      settings: { NODE_OPTIONS: `--import ${REPORTER}`, BENCH_STEPS_FILE: file },
    });
    try {
      const { addresses } = service;
      const access = await createTenant(addresses, ['check:read', 'grant:write', 'admin']);
      await writeRules(addresses, access, RULES);
      const grant = (number: number) => GRANTS[number] ?? { subject: '', relation: '', object: '' };
      await importGrants(addresses, access, { grants: GRANTS.length, grant });
      await demandEveryOperation(addresses.base_url, access.key);
      return await measure(context, service, new StepMeter(service, file), access);
    } finally {
      await service.stop();
    }
  },
};
