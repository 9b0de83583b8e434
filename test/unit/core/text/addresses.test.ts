// Addresses of settings, and the URLs made of them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientNetwork, httpUrlOf, splitAddress } from '../../../../src/core/text/addresses.ts';

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

describe('clientNetwork', () => {
  it('is an IPv4 address itself, however it is written', () => {
    for (const text of ['192.0.2.7', '::ffff:192.0.2.7', '::FFFF:192.0.2.7', '192.0.2.7:4711']) {
      assert.equal(clientNetwork(text), '192.0.2.7');
    }
  });

  it('is the /64 of an IPv6 address', () => {
    for (const [text, network] of [
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
      ['2001:0DB8:0001:0002::6', '2001:db8:1:2::/64'],
      ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
      ['2001:db8:1:2::', '2001:db8:1:2::/64'],
      ['2001:db8::6', '2001:db8:0:0::/64'],
      ['2001:db8::3:4:5:6:7', '2001:db8:0:3::/64'],
      ['2001:db8::1:2:3:4:5', '2001:db8:0:1::/64'],
      ['::', '0:0:0:0::/64'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64'],
      ['2001:db8::', '2001:db8:0:0::/64'],
      ['::1', '0:0:0:0::/64'],
      ['1::3:4:5:6:192.0.2.7', '1:0:3:4::/64'],
      ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
      ['fe80::1:2:3:4%eth0', 'fe80:0:0:0::/64'],
    ] as const) {
      assert.equal(clientNetwork(text), network, text);
    }
  });

  it('is one for all that is no address, of whatever length', () => {
    for (const text of ['', 'unknown', '1.2.3', '1.2.3.400', '12:34', '::1::2', 'x'.repeat(10_000)]) {
      assert.equal(clientNetwork(text), 'unknown');
    }
  });
});
