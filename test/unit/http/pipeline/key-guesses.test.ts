// Addresses that guess keys: which failures count, and which requests are refused without a call to the owner.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import type { Exchange } from '../../../../src/http/pipeline/exchange.ts';
import { KeyGuesses } from '../../../../src/http/pipeline/key-guesses.ts';
import type { RequestMetrics } from '../../../../src/http/pipeline/request-metrics.ts';

const UNAUTHORIZED = new GrantdError('unauthorized', 'The API key is not valid.');
const KEY = 'a key';
const REFUSAL = { of: 'address', allowed: false, limit: 2, remaining: 0, resetSeconds: 42 } as const;

describe('the keys that an address guesses', () => {
  let recorded: string[];
  let keys: (string | undefined)[];
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
    keys = [];
    limited = [];
    refused = undefined;
    guesses = new KeyGuesses(
      {
        failureLimiter: {
          refusal: (address) => (address === refused ? REFUSAL : undefined),
          record: (address, key) => void (recorded.push(address) && keys.push(key)),
        },
        metrics: { rateLimited: (kind: string) => void limited.push(kind) } as unknown as RequestMetrics,
      },
      { trustedProxies: ['10.0.0.1'] },
    );
  });

  it('count against the address that no trusted proxy vouches for', () => {
    guesses.record(from('192.0.2.1'), KEY, UNAUTHORIZED);
    guesses.record(from('192.0.2.2', '198.51.100.1'), KEY, UNAUTHORIZED);
    guesses.record(from('10.0.0.1', '198.51.100.1, 198.51.100.2'), KEY, UNAUTHORIZED);
    guesses.record(from(undefined), KEY, UNAUTHORIZED);
    assert.deepEqual(recorded, ['192.0.2.1', '192.0.2.2', '198.51.100.2', '']);
    assert.deepEqual(new Set(keys), new Set([KEY]));
  });

  it('count only where the owner refused the key', () => {
    guesses.record(from('192.0.2.1'), KEY, new GrantdError('unavailable', 'Not now.'));
    guesses.record(from('192.0.2.1'), KEY, new Error('unexpected'));
    assert.deepEqual(recorded, []);
  });

  it('are refused with the state of the limit once there were too many, from that address alone', () => {
    refused = '192.0.2.1';
    const exchange = from('192.0.2.1');
    assert.throws(() => guesses.admit(exchange, KEY), {
      code: 'rate-limited',
      details: { retryAfterSeconds: 42, violatedPolicy: 'address:failures' },
    });
    assert.deepEqual([exchange.rate, limited], [REFUSAL, ['authentication']]);
    const other = from('192.0.2.2');
    guesses.admit(other, KEY);
    assert.deepEqual([other.rate, limited.length], [undefined, 1]);
  });
});
