// What must succeed during an attack, requested once a second on a new connection each time.

import type { Addresses } from '../server/grantd-process.ts';
import type { Probe } from './attack-list.ts';
import { PREPARATION_MS_MAX } from './attack-messages.ts';
import { type Call, callOnce } from './http-call.ts';
import type { Part } from './service.ts';
import { type Attacker, callOperator } from './tenants.ts';
import { VICTIM_ADDRESS } from './victim-job.ts';

const INTERVAL_MS = 1000;
/** The kubelet's timeout for a probe in the chart. */
const PROBE_MS_MAX = 5000;

interface ExpectedCall extends Call {
  readonly status: number;
}

export interface ProbeResult {
  readonly sent: number;
  readonly failed: number;
  readonly firstFailure: string | undefined;
}

async function createKeyIds(addresses: Addresses, { tenantId }: Attacker, count: number): Promise<readonly string[]> {
  const keyIds: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const body = { scopes: ['check:read'] };
    const { key_id } = await callOperator<{ readonly key_id: string }>(addresses, `/tenants/${tenantId}/keys`, {
      body,
    });
    keyIds.push(key_id);
  }
  return keyIds;
}

export interface ProbesOptions {
  readonly probe: Probe | undefined;
  readonly addresses: Addresses;
  readonly parts: readonly Part[];
  readonly attacker: Attacker;
  readonly durationMs: number;
}

export class Probes {
  readonly #rounds: readonly (readonly ExpectedCall[])[];
  readonly #inFlight: Promise<void>[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sent = 0;
  #failed = 0;
  #firstFailure: string | undefined;

  static async prepare({ probe, addresses, parts, attacker, durationMs }: ProbesOptions): Promise<Probes> {
    const rounds = Math.ceil((durationMs + PREPARATION_MS_MAX) / INTERVAL_MS);
    const alive = parts.map(({ opsUrl }) => ({ url: `${opsUrl}/livez`, status: 200 }));
    const keyIds =
      probe === 'revoke-key' ? await createKeyIds(addresses, attacker, Math.ceil(durationMs / INTERVAL_MS)) : [];
    const further = (round: number): readonly ExpectedCall[] => {
      switch (probe) {
        case 'readiness':
          return parts.map(({ opsUrl }) => ({ url: `${opsUrl}/readyz`, status: 200 }));
        case 'operator':
          return [{ url: `${addresses.console_url}/operator/v1/plans`, key: addresses.operator_token, status: 200 }];
        case 'revoke-key':
          return keyIds.slice(round, round + 1).map((keyId) => {
            const url = `${addresses.base_url}/v1/keys/${keyId}`;
            return { url, method: 'DELETE', key: attacker.adminKey, localAddress: VICTIM_ADDRESS, status: 204 };
          });
        case undefined:
          return [];
      }
    };
    return new Probes(Array.from({ length: rounds }, (_, round) => [...alive, ...further(round)]));
  }

  private constructor(rounds: readonly (readonly ExpectedCall[])[]) {
    this.#rounds = rounds;
  }

  start(): void {
    let round = 0;
    this.#timer = setInterval(() => {
      for (const call of this.#rounds[round] ?? []) this.#inFlight.push(this.#ask(call));
      round += 1;
    }, INTERVAL_MS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async stop(): Promise<ProbeResult> {
    clearInterval(this.#timer);
    await Promise.all(this.#inFlight);
    return { sent: this.#sent, failed: this.#failed, firstFailure: this.#firstFailure };
  }

  async #ask({ status: expected, ...call }: ExpectedCall): Promise<void> {
    this.#sent += 1;
    try {
      const { status, body } = await callOnce({ timeoutMs: PROBE_MS_MAX, ...call });
      if (status !== expected) this.#fail(`${call.method ?? 'GET'} ${call.url}: ${status} ${body.slice(0, 300)}`);
    } catch (error) {
      this.#fail(`${call.method ?? 'GET'} ${call.url}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #fail(what: string): void {
    this.#failed += 1;
    this.#firstFailure ??= what;
  }
}
