// What fronts share, and what operators see of it all: the limits through Redis, and the console.

import assert from 'node:assert/strict';
import { assertNoFailures } from '../../../cluster/support/trials/trial.ts';
import { letRun, waitFor } from '../../../kit/wait-for.ts';
import { ConsoleVisitor } from '../../../unit/operator/console-visitor.ts';
import { type Event, type EventBench, loaded } from './event.ts';

const FRONTS = 2;
const NOTICED_MS_MAX = 30_000;
const WITHOUT_REDIS_MS = 5000;

async function waitForMetric({ release }: EventBench, name: string, value: number): Promise<void> {
  const read = async (): Promise<number[]> =>
    Promise.all((await release.pods('front')).map((pod) => release.readMetric(pod, name)));
  let seen: number[] = [];
  await waitFor(
    `${name} of every front to be ${value}`,
    async () => {
      seen = await read();
      return seen.length === FRONTS && seen.every((each) => each === value);
    },
    NOTICED_MS_MAX,
    () => `It is ${seen.join(' and ')}.`,
  );
}

const sharedLimits: Event = {
  name: 'fronts share the limits through Redis, and go on without it',
  async run(bench) {
    const { redis } = bench;
    await waitForMetric(bench, 'grantd_redis_fronts', FRONTS);
    const outcome = await loaded(bench, 'limits', async () => {
      await redis.kill();
      try {
        await waitForMetric(bench, 'grantd_redis_lost', 1);
        await letRun(WITHOUT_REDIS_MS);
      } finally {
        await redis.restart();
      }
      await waitForMetric(bench, 'grantd_redis_lost', 0);
      await waitForMetric(bench, 'grantd_redis_fronts', FRONTS);
    });
    assertNoFailures(outcome);
  },
};

const console: Event = {
  name: 'the console opens to the operator, and shows the shards',
  async run({ release }) {
    const { url, token } = release.console;
    const stranger = await new ConsoleVisitor(url).get('/console/');
    assert.equal(stranger.status, 303);
    const operator = await new ConsoleVisitor(url).logIn(token);
    const { status, text } = await operator.get('/console/cluster');
    assert.equal(status, 200);
    for (const { name } of await release.pods('shard')) assert.ok(text.includes(name), name);
  },
};

/** 1 GiB and a cache of 256 MiB, as the chart has them: by itself Node would take some 536 MiB. */
const heap: Event = {
  name: 'a shard gives its heap what its page cache takes, and not what Node makes of the memory of the container',
  async run({ release }) {
    const script =
      "process.stdout.write(require('node:fs').readFileSync('/proc/1/cmdline', 'utf8').replaceAll('\\0', ' '))";
    const command = await release.kubectl(['exec', 'grantd-shard-0', '--', 'node', '--eval', script]);
    assert.match(command, /--max-heap-size=640 .*main\.ts shard/);
  },
};

export const LIMITS: readonly Event[] = [sharedLimits, console, heap];
