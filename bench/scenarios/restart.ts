// How long a restart takes, from the start of the process until it is ready, with a million grants and with none, in
// turns: after a clean stop, and after a kill, when the log must be read back. And its memory afterwards, however much
// was written before (restart-memory.ts).

import type { Figure } from '../figure.ts';
import type { BenchContext, LargeDirectory, Scenario } from '../scenario.ts';
import { GrantdProcess } from '../server/grantd-process.ts';
import { median } from '../statistics.ts';
import { measureRestartMemory } from './restart-memory.ts';

const RATIO_MAX = 1.5;

async function verifyAnswers(service: GrantdProcess, { data, key }: LargeDirectory): Promise<void> {
  const url = `${service.addresses.base_url}/v1/check`;
  for (let number = 0; number < 4; number += 1) {
    const { tuple, authorized } = data.question(number);
    const response = await fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(tuple),
    });
    const text = await response.text();
    if (!text.startsWith(`{"authorized":${authorized},`)) throw new Error(`A wrong answer after a restart: ${text}`);
  }
}

async function measure(
  context: BenchContext,
  directory: string,
  signal: NodeJS.Signals,
  verify: (service: GrantdProcess) => Promise<void>,
): Promise<number> {
  const service = await GrantdProcess.start({ directory, searchPath: context.searchPath });
  await verify(service).finally(() => service.stop(signal));
  return service.readySeconds;
}

async function compare(
  context: BenchContext,
  large: LargeDirectory,
  empty: string,
  signal: NodeJS.Signals,
): Promise<readonly Figure[]> {
  const after = signal === 'SIGKILL' ? 'after a kill' : 'after a clean stop';
  const verify = (service: GrantdProcess): Promise<void> => verifyAnswers(service, large);
  const times: (readonly [number, number])[] = [];
  // The first start of each kind follows another kind of stop, and warms the caches of the operating system.
  for (let round = 0; round <= context.rounds; round += 1) {
    context.progress(`${after}, round ${round} of ${context.rounds}`);
    const withGrants = await measure(context, large.directory, signal, verify);
    const withNone = await measure(context, empty, signal, async () => {});
    if (round > 0) times.push([withGrants, withNone]);
  }
  const [withGrants, withNone] = [times.map(([time]) => time), times.map(([, time]) => time)];
  return [
    {
      name: `ready with all grants ÷ with none, ${after}`,
      value: median(withGrants) / median(withNone),
      unit: '×',
      target: { kind: 'at most', value: RATIO_MAX },
      rounds: times.map(([many, none]) => many / none),
    },
    { name: `ready with all grants, ${after}`, value: median(withGrants) * 1000, unit: 'ms' },
    { name: `ready with none, ${after}`, value: median(withNone) * 1000, unit: 'ms' },
  ];
}

export const restartScenario: Scenario = {
  name: 'restart',
  summary: `a restart with a million grants is ready within ${RATIO_MAX} × the time of one with none`,
  async run(context) {
    const large = await context.readLargeDirectory();
    const empty = context.createDirectory();
    return [
      { name: 'grants', value: large.data.grants, unit: 'grants' },
      ...(await compare(context, large, empty, 'SIGTERM')),
      ...(await compare(context, large, empty, 'SIGKILL')),
      ...(await measureRestartMemory(context)),
    ];
  },
};
