// Another tenant's client: one check every 20 ms, whatever happens to the earlier ones, over a small pool of
// connections. If this process itself wakes late, that does not count. In between, it sends requests to a server that
// only responds.

import { Agent } from 'node:http';
import { percentile } from '../statistics.ts';
import { callOnce } from './http-call.ts';
import { type FromVictim, type ToVictim, VICTIM_ADDRESS, type VictimJob, type VictimResult } from './victim-job.ts';

const INTERVAL_MS = 20;
const CALL_MS_MAX = 20_000;
/** As clients have: over one alone, a late response would delay all that follow it. */
const CONNECTIONS_MAX = 8;

const measure = async (ask: () => Promise<void>, latenciesMs: number[]): Promise<void> => {
  const startMs = performance.now();
  await ask();
  latenciesMs.push(performance.now() - startMs);
};

class Victim {
  readonly #job: VictimJob;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  readonly #echoAgent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  readonly #latenciesMs: number[] = [];
  readonly #echoLatenciesMs: number[] = [];
  readonly #inFlight = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #sent = 0;
  #failed = 0;
  #firstFailure: string | undefined;

  constructor(job: VictimJob) {
    this.#job = job;
  }

  async warmUp(requests: number): Promise<void> {
    for (let count = 0; count < requests; count += 1) {
      await this.#ask();
      await this.#askEcho();
    }
    this.#close();
    if (this.#failed > 0) throw new Error(`The victim is not served before the attack: ${this.#firstFailure}`);
  }

  start(): void {
    const startMs = performance.now();
    let due = 0;
    const next = (): void => {
      // Several at once if this process woke late: none is left out.
      for (; startMs + (due * INTERVAL_MS) / 2 <= performance.now(); due += 1) {
        const asked =
          due % 2 === 0
            ? measure(() => this.#ask(), this.#latenciesMs)
            : measure(() => this.#askEcho(), this.#echoLatenciesMs);
        this.#inFlight.add(asked);
        void asked.finally(() => this.#inFlight.delete(asked));
      }
      this.#timer = setTimeout(next, Math.max(0, startMs + (due * INTERVAL_MS) / 2 - performance.now()));
    };
    next();
  }

  async stop(): Promise<VictimResult> {
    clearTimeout(this.#timer);
    await Promise.all(this.#inFlight);
    this.#close();
    const ascending = Float64Array.from(this.#latenciesMs).sort();
    return {
      sent: this.#sent,
      failed: this.#failed,
      firstFailure: this.#firstFailure,
      latencyMs: { p50: percentile(ascending, 0.5), p99: percentile(ascending, 0.99) },
      echoP99Ms: percentile(Float64Array.from(this.#echoLatenciesMs).sort(), 0.99),
    };
  }

  #close(): void {
    this.#agent.destroy();
    this.#echoAgent.destroy();
  }

  async #ask(): Promise<void> {
    const { url, key, requests, reconnects } = this.#job;
    const { body = '', expectedStart = '' } = requests[this.#sent % requests.length] ?? {};
    this.#sent += 1;
    try {
      const response = await callOnce({
        url: `${url}/v1/check`,
        method: 'POST',
        key,
        body,
        localAddress: VICTIM_ADDRESS,
        timeoutMs: CALL_MS_MAX,
        ...(reconnects ? {} : { agent: this.#agent }),
      });
      if (response.status !== 200 || !response.body.startsWith(expectedStart)) {
        this.#fail(`${response.status} ${response.body.slice(0, 300)} to ${body}`);
      }
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error));
    }
  }

  async #askEcho(): Promise<void> {
    const { echoUrl, requests, reconnects } = this.#job;
    const { body = '' } = requests[0] ?? {};
    await callOnce({ url: echoUrl, method: 'POST', body, ...(reconnects ? {} : { agent: this.#echoAgent }) });
  }

  #fail(what: string): void {
    this.#failed += 1;
    this.#firstFailure ??= what;
  }
}

const send = (message: FromVictim): void => {
  process.send?.(message);
};

let victim: Victim | undefined;

async function obey(message: ToVictim): Promise<FromVictim> {
  switch (message.kind) {
    case 'warm-up':
      await new Victim(message.job).warmUp(message.requests);
      return { kind: 'ready' };
    case 'start':
      victim = new Victim(message.job);
      victim.start();
      return { kind: 'ready' };
    case 'stop': {
      if (victim === undefined) throw new Error('The victim is not running.');
      return { kind: 'done', result: await victim.stop() };
    }
  }
}

process.on('message', (message: ToVictim) => {
  obey(message).then(send, (error: unknown) =>
    send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
  );
});
process.on('disconnect', () => process.exit());
