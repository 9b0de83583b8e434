// Addresses of settings, and the URLs made of them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { httpUrlOf, splitAddress } from '../../../src/core/addresses.ts';

describe('splitAddress', () => {
  it('takes host and port apart', () => {
    assert.deepEqual(splitAddress('127.0.0.1:80'), { host: '127.0.0.1', port: 80 });
    assert.deepEqual(splitAddress('[::1]:0'), { host: '::1', port: 0 });
  });
});

describe('httpUrlOf', () => {
  it('puts brackets around an IPv6 host', () => {
    assert.equal(httpUrlOf('127.0.0.1', 80), 'http://127.0.0.1:80');
    assert.equal(httpUrlOf('::1', 80), 'http://[::1]:80');
  });
});
