// Requests as they come through a load balancer: in turn to the fronts that say they are ready, over connections that
// are kept; a front that refuses the connection is passed over. A request that was sent is never sent again.

import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';

const PROBE_MS = 150;
const PROBE_MS_MAX = 1000;
/** Longer than the deadline of the service. */
const REQUEST_MS_MAX = 20_000;
const NO_FRONT_MS_MAX = 10_000;
const NO_FRONT_PAUSE_MS = 50;

export interface HttpAnswer {
  readonly status: number;
  readonly json: ReturnType<typeof JSON.parse>;
  readonly retryAfter: string | undefined;
}

export interface HttpCall {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly body?: object;
}

interface Front {
  readonly host: string;
  readonly port: number;
  readonly opsUrl: string;
  ready: boolean;
}

class Refused extends Error {}

export class Balancer {
  readonly #fronts: readonly Front[];
  readonly #probe: NodeJS.Timeout;
  readonly #agents = new Map<string, Agent>();
  #turn = 0;

  constructor(fronts: readonly { readonly url: string; readonly opsUrl: string }[]) {
    this.#fronts = fronts.map(({ url, opsUrl }) => {
      const { hostname, port } = new URL(url);
      return { host: hostname, port: Number(port), opsUrl, ready: true };
    });
    this.#probe = setInterval(() => {
      for (const front of this.#fronts) void this.#look(front);
    }, PROBE_MS);
  }

  async #look(front: Front): Promise<void> {
    try {
      const response = await fetch(`${front.opsUrl}/readyz`, { signal: AbortSignal.timeout(PROBE_MS_MAX) });
      await response.body?.cancel();
      front.ready = response.status === 200;
    } catch {
      front.ready = false;
    }
  }

  get hasReady(): boolean {
    return this.#fronts.some(({ ready }) => ready);
  }

  #next(refused: ReadonlySet<Front>): Front | undefined {
    const usable = this.#fronts.filter((front) => !refused.has(front));
    const ready = usable.filter((front) => front.ready);
    const choice = ready.length > 0 ? ready : usable;
    this.#turn += 1;
    return choice[this.#turn % Math.max(choice.length, 1)];
  }

  #agent(front: Front, from: string): Agent {
    const name = `${front.host} ${from}`;
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    this.#agents.set(name, agent);
    return agent;
  }

  /** `from`: the address that the client comes from. */
  async call(from: string, call: HttpCall): Promise<HttpAnswer> {
    const endMs = performance.now() + NO_FRONT_MS_MAX;
    let refused = new Set<Front>();
    for (;;) {
      const front = this.#next(refused);
      if (front === undefined) {
        if (performance.now() > endMs) throw new Error('Every front refuses connections.');
        await new Promise((resolve) => setTimeout(resolve, NO_FRONT_PAUSE_MS));
        refused = new Set();
        continue;
      }
      try {
        return await send(front, this.#agent(front, from), from, call);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        refused.add(front);
        front.ready = false;
      }
    }
  }

  close(): void {
    clearInterval(this.#probe);
    for (const agent of this.#agents.values()) agent.destroy();
  }
}

function send(front: Front, agent: Agent, from: string, { method, path, key, body }: HttpCall): Promise<HttpAnswer> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers: Record<string, string> = { Authorization: `Bearer ${key}` };
  if (body !== undefined) {
    headers['Content-Type'] = 'application/json';
    headers['Content-Length'] = String(Buffer.byteLength(text));
  }
  const options = { host: front.host, port: front.port, localAddress: from, agent, method, path, headers };
  return new Promise((resolve, reject) => {
    const bound = setTimeout(() => request.destroy(new Error('no answer in 20 s')), REQUEST_MS_MAX);
    const fail = (error: NodeJS.ErrnoException): void => {
      clearTimeout(bound);
      // Refused: nothing was sent. Anything else is a request that failed.
      const isRefusal = error.code === 'ECONNREFUSED' && error.syscall === 'connect';
      reject(isRefusal ? new Refused() : new Error(`${front.host}: ${error.code ?? ''} ${error.message}`));
    };
    const request = httpRequest(options, (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', fail);
      response.on('end', () => {
        clearTimeout(bound);
        const answer = Buffer.concat(chunks).toString('utf8');
        resolve({
          status: response.statusCode ?? 0,
          json: answer === '' ? undefined : JSON.parse(answer),
          retryAfter: response.headers['retry-after'],
        });
      });
    });
    request.on('error', fail);
    request.end(text);
  });
}
