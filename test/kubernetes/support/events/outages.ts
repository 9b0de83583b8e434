// What grantd learns from Kubernetes while it runs can be taken away: it goes on with what it knows.

import assert from 'node:assert/strict';
import type { Window } from '../../../cluster/support/load.ts';
import { assertNoFailures } from '../../../cluster/support/trials/trial.ts';
import { letRun, waitFor } from '../../../kit/wait-for.ts';
import { assertUnnoticed, during, type Event, loaded } from './event.ts';

const API_OUTAGE_MS = 60_000;
/** For watches and leases to be made again. */
const AFTER_OUTAGE_MS = 15_000;
const P99_MS_MAX = 500;
const NOTICED_MS_MAX = 90_000;
const BINDING = 'rolebinding/grantd-discovery';
const FAILURES_METRIC = 'grantd_discovery_failures_total';

const stopApi: Event = {
  name: 'the API server stopped for 60 s',
  async run(bench) {
    const { kubernetes, release, say } = bench;
    let window: Window = { from: 0, to: 0 };
    const outcome = await loaded(bench, 'stop-api', async (load) => {
      window = await during(load, async () => {
        await kubernetes.stopApi();
        try {
          await letRun(API_OUTAGE_MS);
        } finally {
          await kubernetes.startApi();
        }
        await letRun(AFTER_OUTAGE_MS);
      });
    });
    assertUnnoticed(outcome, window, P99_MS_MAX, say);
    for (const front of await release.pods('front')) assert.ok(front.ready, JSON.stringify(front));
  },
};

const withoutRights: Event = {
  name: "the fronts' rights taken away: a word in the log, a metric, and the addresses known last",
  async run(bench) {
    const { kubernetes, release, say } = bench;
    const binding = await release.kubectl(['get', BINDING, '-o', 'json']);
    const outcome = await loaded(bench, 'without-rights', async () => {
      const failures = async (): Promise<number[]> =>
        Promise.all((await release.pods('front')).map((pod) => release.readMetric(pod, FAILURES_METRIC)));
      const before = await failures();
      await release.kubectl(['delete', BINDING]);
      try {
        // A watch that stands is not looked at again; those made again are.
        await kubernetes.stopApi();
        await kubernetes.startApi();
        const grown = async (): Promise<boolean> =>
          (await failures()).every((count, index) => count > (before[index] ?? 0) + 1);
        await waitFor('every front to count failures', grown, NOTICED_MS_MAX);
        for (const { name } of await release.pods('front')) {
          const word = (await release.logs(name)).split('\n').find((line) => /may not .*EndpointSlices/i.test(line));
          assert.ok(word !== undefined, `${name} says what it may not`);
          say(`  ${word}`);
        }
        // Another address of a shard: the others name it.
        await release.kubectl(['delete', 'pod', 'grantd-shard-0']);
        await release.waitUntilRolledOut(['shard']);
        await release.waitUntilServedBy(2);
      } finally {
        const { apiVersion, kind, metadata, roleRef, subjects } = JSON.parse(binding);
        const { name, namespace, labels, annotations } = metadata;
        const again = { apiVersion, kind, metadata: { name, namespace, labels, annotations }, roleRef, subjects };
        await kubernetes.apply(JSON.stringify(again));
      }
    });
    assertNoFailures(outcome);
  },
};

export const OUTAGES: readonly Event[] = [stopApi, withoutRights];
