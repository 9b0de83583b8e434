// Sends checks continuously, to each front in turn, as clients of a cluster do. Every second it prints how many
// succeeded, how many failed, and how long the slowest took: the cost of a killed shard.

import type { LocalCluster } from './local-cluster.ts';
import { DEMO_TUPLE } from './operator.ts';

/** Each waits for its answer and a moment, so a laptop keeps most of its processors. */
const CLIENTS = 8;
const PAUSE_MS = 50;
const REPORT_MS = 1000;
/** Longer than the deadline of the service. */
const CHECK_MS_MAX = 20_000;

export interface CheckLoop {
  /** Resolves when every check has its answer. */
  stop(): Promise<void>;
}

async function check(url: string, key: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/v1/check`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(DEMO_TUPLE),
      signal: AbortSignal.timeout(CHECK_MS_MAX),
    });
    const answer: unknown = await response.json();
    return (
      response.status === 200 && typeof answer === 'object' && answer !== null && Object(answer).authorized === true
    );
  } catch {
    return false;
  }
}

export function startCheckLoop({ frontUrls, demo }: LocalCluster, report: (text: string) => void): CheckLoop {
  const stop = new AbortController();
  let answered = 0;
  let failed = 0;
  let reported = 0;
  let slowestMs = 0;
  let turn = 0;

  const client = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const startedMs = performance.now();
      turn += 1;
      const isRight = await check(frontUrls[turn % frontUrls.length] ?? '', demo.key);
      if (isRight) answered += 1;
      else failed += 1;
      slowestMs = Math.max(slowestMs, performance.now() - startedMs);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const reportRate = (): void => {
    const rate = answered - reported;
    report(`${rate} checks/s, ${answered} right in all, ${failed} failed, slowest ${Math.round(slowestMs)} ms`);
    reported = answered;
    slowestMs = 0;
  };
  const timer = setInterval(reportRate, REPORT_MS);
  const clients = Array.from({ length: CLIENTS }, client);
  return {
    async stop() {
      stop.abort();
      await Promise.all(clients);
      clearInterval(timer);
      report(`In all: ${answered} checks right, ${failed} failed.`);
    },
  };
}
