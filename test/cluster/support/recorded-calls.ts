// The calls of the public API, each recorded in a history with what its answer says, and as a request with its latency.
// An answer that the interface does not have is a failure with its status in words. One is none: a write whose key
// these calls revoke meanwhile may be refused by the next owner of its slot, which cannot say what the one before has
// done.

import type { Relation, Tuple } from '../../../src/core/tuples.ts';
import type { History, Invocation, Operation, Outcome } from '../../kit/history/history.ts';
import type { Balancer, HttpAnswer, HttpCall } from './balancer.ts';
import { monotonicMs, type RequestRecord } from './load-job.ts';

export interface Caller {
  readonly name: string;
  /** The address it calls from. */
  readonly address: string;
}

export interface UsedKey {
  readonly tenant: number;
  readonly tenantId: string;
  readonly keyId: string;
  readonly key: string;
}

/** Of an answer 503 that leaves open whether anything was done. */
const OUTCOME_UNKNOWN = /outcome is unknown/;

export class RecordedCalls {
  readonly requests: RequestRecord[] = [];
  /** Ids of keys whose revocation has begun. */
  readonly #revoked = new Set<string>();
  readonly #balancer: Balancer;
  readonly #history: History;
  readonly #originMs: number;

  constructor(balancer: Balancer, history: History, originMs: number) {
    this.#balancer = balancer;
    this.#history = history;
    this.#originMs = originMs;
  }

  /** Undefined: no answer that says anything. */
  async #send(
    caller: Caller,
    used: UsedKey,
    kind: string,
    call: Omit<HttpCall, 'key'>,
    expected: readonly number[],
  ): Promise<HttpAnswer | undefined> {
    const startMs = monotonicMs();
    const record = (more: { failure?: string; retryAfter?: string | undefined }): void => {
      const { failure, retryAfter } = more;
      this.requests.push({
        atMs: startMs - this.#originMs,
        latencyMs: monotonicMs() - startMs,
        tenant: used.tenant,
        kind,
        ...(failure === undefined ? {} : { failure }),
        ...(retryAfter === undefined ? {} : { retryAfter }),
      });
    };
    try {
      const answer = await this.#balancer.call(caller.address, { ...call, key: used.key });
      if (expected.includes(answer.status)) {
        record({});
        return answer;
      }
      const { status, json, retryAfter } = answer;
      const refusedAtDoor = this.#revoked.has(used.keyId) && status === 503 && OUTCOME_UNKNOWN.test(json?.detail);
      record(refusedAtDoor ? {} : { failure: `${status} ${json?.type} ${json?.detail}`, retryAfter });
    } catch (error) {
      record({ failure: error instanceof Error ? error.message : String(error) });
    }
    return undefined;
  }

  async #recorded(
    caller: Caller,
    used: UsedKey,
    invocation: Pick<Invocation, 'kind' | 'input'>,
    call: Omit<HttpCall, 'key'>,
    outcomes: Readonly<Record<number, (json: HttpAnswer['json']) => Outcome>>,
  ): Promise<Outcome | undefined> {
    const { tenantId, keyId } = used;
    const base = { client: caller.name, tenant: tenantId, keyId } as const;
    const finish = this.#history.begin({ ...base, ...invocation } as Invocation);
    const expected = [...Object.keys(outcomes).map(Number), 401];
    const answer = await this.#send(caller, used, invocation.kind, call, expected);
    const outcome: Outcome | undefined =
      answer?.status === 401 ? { kind: 'unauthorized' } : answer && outcomes[answer.status]?.(answer.json);
    finish(outcome);
    return outcome;
  }

  grant(caller: Caller, used: UsedKey, tuple: Tuple): Promise<Outcome | undefined> {
    const record = (kind: 'created' | 'exists') => (json: HttpAnswer['json']) => ({
      kind,
      grantId: json.grant_id,
      createdAt: json.created_at,
    });
    const call = { method: 'POST', path: '/v1/grants', body: tuple };
    return this.#recorded(caller, used, { kind: 'grant', input: tuple }, call, {
      201: record('created'),
      200: record('exists'),
    });
  }

  revoke(caller: Caller, used: UsedKey, tuple: Tuple): Promise<Outcome | undefined> {
    const call = { method: 'DELETE', path: '/v1/grants', body: tuple };
    return this.#recorded(caller, used, { kind: 'revoke', input: tuple }, call, {
      204: () => ({ kind: 'revoked' }),
      404: () => ({ kind: 'not-found' }),
    });
  }

  check(caller: Caller, used: UsedKey, tuple: Tuple): Promise<Outcome | undefined> {
    const call = { method: 'POST', path: '/v1/check', body: tuple };
    return this.#recorded(caller, used, { kind: 'check', input: tuple }, call, {
      200: (json) => ({ kind: 'answer', authorized: json.authorized }),
    });
  }

  bulk(caller: Caller, used: UsedKey, checks: readonly Tuple[]): Promise<Outcome | undefined> {
    const call = { method: 'POST', path: '/v1/check/bulk', body: { checks } };
    return this.#recorded(caller, used, { kind: 'bulk', input: checks }, call, {
      200: (json) => ({
        kind: 'answer',
        authorized: json.results.map(({ authorized }: { authorized: boolean }) => authorized),
      }),
    });
  }

  /** All pages, each an operation of its own. */
  async list(caller: Caller, used: UsedKey, subject: string, relation: Relation, limit: number): Promise<void> {
    let cursor: string | undefined;
    let after: string | undefined;
    do {
      const query = new URLSearchParams({ subject, relation, limit: String(limit) });
      if (cursor !== undefined) query.set('cursor', cursor);
      let next: string | undefined;
      const call = { method: 'GET', path: `/v1/objects?${query}` };
      const outcome = await this.#recorded(caller, used, { kind: 'list', input: { subject, relation, after } }, call, {
        200: (json) => {
          next = json.next_cursor ?? undefined;
          return { kind: 'answer', objects: json.objects, more: next !== undefined };
        },
      });
      if (outcome?.kind !== 'answer' || !('objects' in outcome)) return;
      after = outcome.objects.at(-1) ?? after;
      cursor = next;
    } while (cursor !== undefined);
  }

  async createKey(caller: Caller, used: UsedKey): Promise<UsedKey | undefined> {
    const call = { method: 'POST', path: '/v1/keys', body: { scopes: ['check:read', 'grant:write'] } };
    const answer = await this.#send(caller, used, 'create-key', call, [201]);
    return answer && { ...used, keyId: answer.json.key_id, key: answer.json.key };
  }

  revokeKey(caller: Caller, used: UsedKey, keyId: string): Promise<Outcome | undefined> {
    this.#revoked.add(keyId);
    const call = { method: 'DELETE', path: `/v1/keys/${keyId}` };
    return this.#recorded(caller, used, { kind: 'revoke-key', input: { keyId } }, call, {
      204: () => ({ kind: 'revoked' }),
      404: () => ({ kind: 'not-found' }),
    });
  }

  operations(): Operation[] {
    return this.#history.operations();
  }
}
