// Addresses that guess keys: which failures count, and which requests are refused without a call to the owner.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import type { Exchange } from '../../../../src/http/pipeline/exchange.ts';
import { KeyGuesses } from '../../../../src/http/pipeline/key-guesses.ts';
import type { RequestMetrics } from '../../../../src/http/pipeline/request-metrics.ts';

const UNAUTHORIZED = new GrantdError('unauthorized', 'The API key is not valid.');
const REFUSAL = { allowed: false, limit: 2, remaining: 0, resetSeconds: 42 };

describe('the keys that an address guesses', () => {
  let recorded: string[];
  let limited: string[];
  let refused: string | undefined;
  let guesses: KeyGuesses;

  const from = (remoteAddress: string | undefined, forwardedFor?: string) =>
    ({
      incoming: { socket: { remoteAddress }, headers: { 'x-forwarded-for': forwardedFor } },
      rate: undefined,
    }) as unknown as Exchange;

  beforeEach(() => {
    recorded = [];
    limited = [];
    refused = undefined;
    guesses = new KeyGuesses(
      {
        failureLimiter: {
          refusal: (address) => (address === refused ? REFUSAL : undefined),
          record: (address) => void recorded.push(address),
        },
        metrics: { rateLimited: (kind: string) => void limited.push(kind) } as unknown as RequestMetrics,
      },
      { trustedProxies: ['10.0.0.1'] },
    );
  });

  it('count against the address that no trusted proxy vouches for', () => {
    guesses.record(from('192.0.2.1'), UNAUTHORIZED);
    guesses.record(from('192.0.2.2', '198.51.100.1'), UNAUTHORIZED);
    guesses.record(from('10.0.0.1', '198.51.100.1, 198.51.100.2'), UNAUTHORIZED);
    guesses.record(from(undefined), UNAUTHORIZED);
    assert.deepEqual(recorded, ['192.0.2.1', '192.0.2.2', '198.51.100.2', '']);
  });

  it('count only where the owner refused the key', () => {
    guesses.record(from('192.0.2.1'), new GrantdError('unavailable', 'Not now.'));
    guesses.record(from('192.0.2.1'), new Error('unexpected'));
    assert.deepEqual(recorded, []);
  });

  it('are refused with the state of the limit once there were too many, from that address alone', () => {
    refused = '192.0.2.1';
    const exchange = from('192.0.2.1');
    assert.throws(() => guesses.admit(exchange), {
      code: 'rate-limited',
      details: { retryAfterSeconds: 42, violatedPolicy: 'address:failures' },
    });
    assert.deepEqual([exchange.rate, limited], [REFUSAL, ['authentication']]);
    const other = from('192.0.2.2');
    guesses.admit(other);
    assert.deepEqual([other.rate, limited.length], [undefined, 1]);
  });
});
