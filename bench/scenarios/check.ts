// A single check compared with a bare echo: CPU per request and p99, both as ratios. The two are measured in turns, so
// that other load on the machine affects both.

import type { Figure } from '../figure.ts';
import type { PreparedRequest } from '../load/load-job.ts';
import { CONNECTIONS, type Scenario } from '../scenario.ts';
import { startEcho } from '../server/echo-process.ts';
import { median } from '../statistics.ts';
import { startLoadedService } from './loaded-service.ts';
import { measureInTurns, type Round, type Side } from './turns.ts';

const CPU_RATIO_MAX = 1.5;
const P99_RATIO_MAX = 2.5;
/** Different questions; more than a client can ask about one subject in a row. */
const QUESTIONS = 50_000;
/** Of the slower one's throughput: a load that leaves both some capacity. */
const FIXED_RATE_SHARE = 0.5;
/** Until the code of both is fully compiled. */
const WARM_UP_MS = 4000;

function compare(rounds: readonly (readonly [Round, Round])[], mode: string): readonly Figure[] {
  const figure = (name: string, unit: string, values: readonly number[]): Figure => ({
    name: `${name}, ${mode}`,
    unit,
    value: median(values),
    rounds: values,
  });
  const ratio = (name: string, of: (round: Round) => number): Figure => ({
    name: `${name}, grantd ÷ echo, ${mode}`,
    unit: '×',
    value: median(rounds.map(([grantd]) => of(grantd))) / median(rounds.map(([, echo]) => of(echo))),
    rounds: rounds.map(([grantd, echo]) => of(grantd) / of(echo)),
  });
  const both = (name: string, unit: string, of: (round: Round) => number): readonly Figure[] => [
    figure(
      `${name}, grantd`,
      unit,
      rounds.map(([grantd]) => of(grantd)),
    ),
    figure(
      `${name}, echo`,
      unit,
      rounds.map(([, echo]) => of(echo)),
    ),
  ];
  return [
    ratio('CPU per check', (round) => round.cpuMicros),
    ...both('CPU per check', 'µs', (round) => round.cpuMicros),
    ratio('p99', (round) => round.latencyMs.p99),
    ...both('p99', 'ms', (round) => round.latencyMs.p99),
    ...both('p50', 'ms', (round) => round.latencyMs.p50),
    ...both('throughput', '/s', (round) => round.answered / round.seconds),
  ];
}

function withTarget(figures: readonly Figure[], start: string, value: number): readonly Figure[] {
  return figures.map((figure) =>
    figure.name.startsWith(`${start}, grantd ÷ echo`) ? { ...figure, target: { kind: 'at most', value } } : figure,
  );
}

export const checkScenario: Scenario = {
  name: 'check',
  summary: `a single check compared with a bare echo: CPU ≤ ${CPU_RATIO_MAX} ×, p99 ≤ ${P99_RATIO_MAX} ×`,
  async run(context) {
    const { service, access, data, url } = await startLoadedService(context);
    const echo = await startEcho();
    try {
      const questions = Array.from({ length: QUESTIONS }, (_, number) => data.question(number));
      const common = { key: access.key, path: '/v1/check', expectedStatus: 200, connections: CONNECTIONS };
      const requestsWith = (expected: (authorized: boolean) => boolean): readonly PreparedRequest[] =>
        questions.map(({ tuple, authorized }) => ({
          body: JSON.stringify(tuple),
          expectedStart: `{"authorized":${expected(authorized)},`,
        }));
      const sides: readonly [Side, Side] = [
        {
          name: 'grantd',
          pids: [service.pid],
          job: { ...common, url, requests: requestsWith((authorized) => authorized) },
        },
        { name: 'echo', pids: [echo.pid], job: { ...common, url: echo.url, requests: requestsWith(() => true) } },
      ];
      await measureInTurns(context, sides, { kind: 'saturate', durationMs: WARM_UP_MS }, 1);
      const { durationMs, rounds } = context;
      const saturated = await measureInTurns(context, sides, { kind: 'saturate', durationMs }, rounds);
      const throughput = ({ answered, seconds }: Round): number => answered / seconds;
      const slower = median(saturated.map((pair) => Math.min(...pair.map(throughput))));
      const perSecond = Math.floor(FIXED_RATE_SHARE * slower);
      const paced = await measureInTurns(context, sides, { kind: 'rate', durationMs, perSecond }, rounds);
      return [
        ...withTarget(
          withTarget(compare(saturated, 'saturated'), 'CPU per check', CPU_RATIO_MAX),
          'p99',
          P99_RATIO_MAX,
        ),
        // Without a target: with few processors, it says more about the scheduler than about the service.
        ...compare(paced, `at ${perSecond}/s`),
      ];
    } finally {
      echo.close();
      await service.stop();
    }
  },
};
