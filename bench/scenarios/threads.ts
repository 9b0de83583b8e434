// `grantd dev --threads 2` compared with one thread: single checks of one tenant. The load takes a part of the same
// processors, so the throughput as measured says how the two share them. What the service itself could serve on two
// processors, with the load elsewhere, follows from its CPU time: one thread serves what it was measured to serve while
// the load had the other processor; two threads, as many checks as fit into the time of both.

import type { Figure } from '../figure.ts';
import { CONNECTIONS, type Scenario } from '../scenario.ts';
import { median } from '../statistics.ts';
import { startLoadedService } from './loaded-service.ts';
import { measureInTurns, type Round, type Side } from './turns.ts';

const THREADS = 2;
const CAPACITY_RATIO_MIN = 1.6;
const CPU_RATIO_MAX = 1.25;
const QUESTIONS = 50_000;
/** Until the code is compiled and every thread has the pages. */
const WARM_UP_MS = 8000;

const throughput = ({ answered, seconds }: Round): number => answered / seconds;
/** With all the time of as many processors as there are threads. */
const capacity = ({ cpuMicros }: Round): number => (THREADS * 1e6) / cpuMicros;

function figuresOf(rounds: readonly (readonly [Round, Round])[]): readonly Figure[] {
  const figure = (name: string, unit: string, of: (pair: readonly [Round, Round]) => number): Figure => {
    const values = rounds.map(of);
    return { name, unit, value: median(values), rounds: values };
  };
  return [
    {
      ...figure('checks a second of 2 processors, load elsewhere, 2 threads ÷ 1', '×', ([one, two]) => {
        return capacity(two) / throughput(one);
      }),
      target: { kind: 'at least', value: CAPACITY_RATIO_MIN },
    },
    {
      ...figure('CPU per check, 2 threads ÷ 1', '×', ([one, two]) => two.cpuMicros / one.cpuMicros),
      target: { kind: 'at most', value: CPU_RATIO_MAX },
    },
    figure('throughput beside the load, 2 threads ÷ 1', '×', ([one, two]) => throughput(two) / throughput(one)),
    figure('CPU per check, 1 thread', 'µs', ([one]) => one.cpuMicros),
    figure('CPU per check, 2 threads', 'µs', ([, two]) => two.cpuMicros),
    figure('throughput beside the load, 1 thread', '/s', ([one]) => throughput(one)),
    figure('throughput beside the load, 2 threads', '/s', ([, two]) => throughput(two)),
    figure('p99, 1 thread', 'ms', ([one]) => one.latencyMs.p99),
    figure('p99, 2 threads', 'ms', ([, two]) => two.latencyMs.p99),
  ];
}

export const threadsScenario: Scenario = {
  name: 'threads',
  summary: `\`grantd dev --threads 2\` compared with one: ≥ ${CAPACITY_RATIO_MIN} × the checks, CPU ≤ ${CPU_RATIO_MAX} ×`,
  async run(context) {
    const one = await startLoadedService(context);
    try {
      const two = await startLoadedService(context, { options: ['--threads', String(THREADS)] });
      try {
        const sideOf = (name: string, { service, access, data, url }: typeof one): Side => ({
          name,
          pids: [service.pid],
          job: {
            url,
            key: access.key,
            path: '/v1/check',
            expectedStatus: 200,
            connections: CONNECTIONS,
            requests: Array.from({ length: QUESTIONS }, (_, number) => {
              const { tuple, authorized } = data.question(number);
              return { body: JSON.stringify(tuple), expectedStart: `{"authorized":${authorized},` };
            }),
          },
        });
        const sides = [sideOf('one thread', one), sideOf('two threads', two)] as const;
        await measureInTurns(context, sides, { kind: 'saturate', durationMs: WARM_UP_MS }, 1);
        const { durationMs, rounds } = context;
        return figuresOf(await measureInTurns(context, sides, { kind: 'saturate', durationMs }, rounds));
      } finally {
        await two.service.stop();
      }
    } finally {
      await one.service.stop();
    }
  },
};
