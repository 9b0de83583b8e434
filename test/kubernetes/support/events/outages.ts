// What grantd learns from Kubernetes while it runs can be taken away: it goes on with what it knows.

import assert from 'node:assert/strict';
import type { Window } from '../../../cluster/support/load.ts';
import { letRun } from '../../../kit/wait-for.ts';
import { assertUnnoticed, during, type Event, loaded } from './event.ts';

const API_OUTAGE_MS = 60_000;
/** For watches and leases to be made again. */
const AFTER_OUTAGE_MS = 15_000;
const P99_MS_MAX = 500;

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

export const OUTAGES: readonly Event[] = [stopApi];
