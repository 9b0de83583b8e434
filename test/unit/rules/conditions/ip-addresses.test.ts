// IP addresses and networks, compared with the lists of node:net.

import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isInNetwork, parseIpAddress, parseIpNetwork } from '../../../../src/rules/conditions/ip-addresses.ts';

function isIn(address: string, network: string): boolean {
  const [ip, net] = [parseIpAddress(address), parseIpNetwork(network)];
  assert.ok(ip !== undefined && net !== undefined, `${address} ${network}`);
  return isInNetwork(ip, net);
}

function listHas(address: string, network: string, version: 'ipv4' | 'ipv6'): boolean {
  const [net = '', prefix] = network.split('/');
  const list = new BlockList();
  list.addSubnet(net, Number(prefix), version);
  return list.check(address, version);
}

describe('an address', () => {
  it('is in the same networks as elsewhere', () => {
    const near = (address: string) => fc.constantFrom(address, '10.0.0.1', '10.0.0.2', '10.128.0.1', '11.0.0.1');
    fc.assert(
      fc.property(fc.ipV4(), fc.nat(32), (network, prefix) =>
        fc.assert(
          fc.property(near(network), (address) =>
            assert.equal(isIn(address, `${network}/${prefix}`), listHas(address, `${network}/${prefix}`, 'ipv4')),
          ),
          { numRuns: 5 },
        ),
      ),
    );
    // With a prefix of 0, a list of node:net is empty for some addresses.
    fc.assert(
      fc.property(fc.ipV6(), fc.ipV6(), fc.integer({ min: 1, max: 128 }), (network, other, prefix) => {
        for (const address of [network, other]) {
          fc.pre(!/^::ffff:/i.test(address));
          assert.equal(isIn(address, `${network}/${prefix}`), listHas(address, `${network}/${prefix}`, 'ipv6'));
        }
      }),
    );
  });

  it('is in no network of the other version', () => {
    assert.equal(isIn('10.0.0.1', '::/0'), false);
    assert.equal(isIn('::1', '0.0.0.0/0'), false);
  });

  it('of IPv4 that is mapped into IPv6 is the IPv4 address, also in networks', () => {
    for (const address of ['10.0.0.1', '::ffff:10.0.0.1', '::FFFF:a00:1', '0:0:0:0:0:ffff:10.0.0.1']) {
      assert.deepEqual(parseIpAddress(address), parseIpAddress('10.0.0.1'), address);
      for (const [network, expected] of [
        ['10.0.0.0/8', true],
        ['11.0.0.0/8', false],
        ['::ffff:10.0.0.0/104', true],
        ['::ffff:0:0/96', true],
        ['::ffff:0:0/95', false],
        ['::/0', false],
      ] as const) {
        assert.equal(isIn(address, network), expected, `${address} ${network}`);
      }
    }
  });

  it('has one value in every spelling', () => {
    const spellings = [
      '2001:db8::1',
      '2001:DB8:0:0::1',
      '2001:0db8:0000:0000:0000:0000:0000:0001',
      '2001:db8::0.0.0.1',
    ];
    assert.equal(new Set(spellings.map((text) => parseIpAddress(text)?.bits)).size, 1);
  });

  it('is nothing else', () => {
    for (const text of ['', '1.2.3', '01.2.3.4', '1.2.3.256', '::1%lo', ':::', '1::2::3', ' 1.2.3.4', '1.2.3.4/32']) {
      assert.equal(parseIpAddress(text), undefined, text);
    }
    for (const text of [
      '1.2.3.4',
      '1.2.3.4/',
      '1.2.3.4/33',
      '1.2.3.4/08',
      '::/129',
      '1.2.3.4/-1',
      '1.2.3.4/8/8',
      '/8',
    ]) {
      assert.equal(parseIpNetwork(text), undefined, text);
    }
  });
});
