// Runs the contract of the clients with one runner: a tenant and a fault proxy for each case, then the program, then
// the verdict on every case. Invariant: every case is performed exactly once, or the run fails.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { inParallel } from '../../../src/core/async/in-parallel.ts';
import { type HttpService, startHttpService } from '../../kit/http-service.ts';
import { type Case, readCases } from './cases.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { judgeLog, judgeOutcomes, judgeRequests, judgeSecrets, judgeWarnings } from './judge.ts';

/** Of a tenant of a case that meets a limit. */
const PLANS = JSON.stringify({
  small: { requests: null, window_seconds: 1, namespaces_max: 2, keys_max: 2, grants_max: 2, streams_max: 2 },
  slow: { requests: 2, window_seconds: 1 },
});

/** Of a call, where a case does not say otherwise: more than any takes on a busy machine. */
const TIMEOUT_MS = 120_000;

export interface Runner {
  /** From `startContractService`, for several runs. By default the run starts its own. */
  readonly service?: HttpService;
  readonly command: readonly [string, ...string[]];
  readonly directory?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** By default all of them. */
  readonly cases?: readonly Case[];
}

interface Prepared {
  readonly case: Case;
  readonly line: string;
  readonly key: string | undefined;
  readonly environment: Readonly<Record<string, string>> | undefined;
  readonly proxy: FaultProxy;
}

export const startContractService = (): Promise<HttpService> => startHttpService({ GRANTD_PLANS: PLANS });

async function prepare(service: HttpService, one: Case): Promise<Prepared> {
  const steps = one.steps.map(({ expect: _, ...step }) => step);
  const common = { name: one.name, client: { timeout_ms: TIMEOUT_MS, ...one.client }, steps };
  const { tenantId, key: tenantKey } = await service.createTenant(one.plan);
  if (one.suspended === true) await service.setState(tenantId, 'suspended');
  const path = one.url_path ?? '';
  const proxy = await startFaultProxy(service.baseUrl, one.faults, path === '/' ? '' : path);
  const [url, key] = [`${proxy.url}${path}`, one.key ?? tenantKey];
  const given = { url, key };
  for (const name of one.without ?? []) Reflect.deleteProperty(given, name);
  const filled = Object.entries(one.environment ?? {}).map(([name, value]) => [
    name,
    value.replace('$url', url).replace('$key', key),
  ]);
  return {
    case: one,
    line: JSON.stringify({ ...common, ...given }),
    key,
    environment: one.environment === undefined ? undefined : Object.fromEntries(filled),
    proxy,
  };
}

export interface Report {
  readonly name?: unknown;
  readonly outcomes?: unknown;
  readonly warnings?: unknown;
  readonly log?: unknown;
  readonly failure?: unknown;
}

/** Starts the runner for these cases. `limitMs`: when it is ended, and the cases that it has not performed fail. */
export async function perform(
  { command: [program, ...args], directory, environment }: Runner,
  lines: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  limitMs = 0,
): Promise<readonly Report[]> {
  const child = spawn(program, args, {
    cwd: directory,
    env: { ...process.env, GRANTD_URL: undefined, GRANTD_KEY: undefined, ...environment, ...variables },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: limitMs,
    killSignal: 'SIGKILL',
  });
  const errors: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  const ended = new Promise<unknown>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  // A runner that ends early says why on its standard error.
  child.stdin.on('error', () => {});
  child.stdin.end(lines.map((line) => `${line}\n`).join(''));
  const reports: Report[] = [];
  let rest = '';
  // By line feeds alone: an outcome may have other separators of lines.
  for await (const text of child.stdout.setEncoding('utf8')) {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) reports.push(JSON.parse(line));
  }
  const code = await ended;
  if (limitMs > 0 && code === 'SIGKILL') return reports;
  assert.equal(code, 0, `the runner ends with 0\n${errors.join('')}`);
  return reports;
}

/** Cases with an environment of their own have a runner of their own. */
async function performAll(runner: Runner, prepared: readonly Prepared[]): Promise<readonly Report[]> {
  const [alone, together] = [true, false].map((isAlone) =>
    prepared.filter(({ environment }) => (environment !== undefined) === isAlone),
  );
  const reports = [
    ...(await perform(
      runner,
      (together ?? []).map(({ line }) => line),
    )),
  ];
  for (const { line, environment } of alone ?? []) reports.push(...(await perform(runner, [line], environment)));
  return reports;
}

function judge({ case: one, key, proxy }: Prepared, reports: readonly Report[]): readonly string[] {
  const found = reports.filter(({ name }) => name === one.name);
  const [report] = found;
  if (report === undefined || found.length > 1) return [`it was performed ${found.length} times`];
  if (report.failure !== undefined) return [`the runner failed: ${String(report.failure)}`];
  return [
    ...judgeOutcomes(one, report.outcomes),
    ...judgeWarnings(one, report.warnings),
    ...judgeLog(one, report.log),
    ...judgeSecrets(key, report.outcomes, report.log),
    ...judgeRequests(one, proxy.seen),
  ];
}

/** What does not hold, as `case: difference`. */
export async function contractFailures(runner: Runner): Promise<readonly string[]> {
  const cases = runner.cases ?? readCases();
  await using stack = new AsyncDisposableStack();
  const service = runner.service ?? (await startContractService());
  if (runner.service === undefined) stack.defer(() => service.stop());
  const prepared: Prepared[] = [];
  try {
    await inParallel(cases, 8, async (one) => {
      prepared.push(await prepare(service, one));
    });
    const reports = await performAll(runner, prepared);
    return prepared.flatMap((each) => judge(each, reports).map((text) => `${each.case.name}: ${text}`)).toSorted();
  } finally {
    await Promise.all(prepared.map(({ proxy }) => proxy.close()));
  }
}

/** Fails with everything that does not hold. */
export async function runContract(runner: Runner): Promise<void> {
  const failures = await contractFailures(runner);
  assert.deepEqual(failures, [], failures.join('\n'));
}
