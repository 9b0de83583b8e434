// Bulk checks of 100: CPU time of the service per check.

import type { LoadJob } from '../load/load-job.ts';
import { CONNECTIONS, type Scenario } from '../scenario.ts';
import { readCpuSeconds } from '../server/resource-use.ts';
import { median } from '../statistics.ts';
import { startLoadedService } from './loaded-service.ts';

const CHECKS_PER_CALL = 100;
const CALLS = 500;
const CPU_MICROS_MAX = 3;

export const bulkScenario: Scenario = {
  name: 'bulk',
  summary: `bulk checks of ${CHECKS_PER_CALL}: ≤ ${CPU_MICROS_MAX} µs CPU per check`,
  async run(context) {
    const { service, access, data, url } = await startLoadedService(context);
    try {
      const requests = Array.from({ length: CALLS }, (_, callNumber) => {
        const questions = Array.from({ length: CHECKS_PER_CALL }, (__, index) =>
          data.question(callNumber * CHECKS_PER_CALL + index),
        );
        const results = questions.map(({ authorized }) => ({ authorized }));
        return {
          body: JSON.stringify({ checks: questions.map(({ tuple }) => tuple) }),
          expectedStart: `{"results":${JSON.stringify(results)},`,
        };
      });
      const job: LoadJob = {
        url,
        key: access.key,
        path: '/v1/check/bulk',
        expectedStatus: 200,
        connections: CONNECTIONS,
        requests,
        mode: { kind: 'saturate', durationMs: context.durationMs },
      };
      await context.client.run(job);
      const cpuMicros: number[] = [];
      const perSecond: number[] = [];
      const p99Ms: number[] = [];
      for (let round = 1; round <= context.rounds; round += 1) {
        context.progress(`round ${round} of ${context.rounds}`);
        const before = readCpuSeconds(service.pid);
        const { answered, seconds, latencyMs } = await context.client.run(job);
        const checks = answered * CHECKS_PER_CALL;
        cpuMicros.push(((readCpuSeconds(service.pid) - before) * 1e6) / checks);
        perSecond.push(checks / seconds);
        p99Ms.push(latencyMs.p99);
      }
      return [
        {
          name: 'CPU per check of a bulk',
          value: median(cpuMicros),
          unit: 'µs',
          target: { kind: 'at most', value: CPU_MICROS_MAX },
          rounds: cpuMicros,
        },
        { name: 'checks', value: median(perSecond), unit: '/s', rounds: perSecond },
        { name: 'p99 of a call', value: median(p99Ms), unit: 'ms', rounds: p99Ms },
      ];
    } finally {
      await service.stop();
    }
  },
};
