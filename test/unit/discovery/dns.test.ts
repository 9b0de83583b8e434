// Discovery by DNS, with a resolver and a clock of the test's own: every change is told once, failures change nothing.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { SHARD_ADDRESSES_MAX } from '../../../src/core/limits.ts';
import { createDnsDiscovery } from '../../../src/discovery/dns.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { VirtualClock } from '../../kit/virtual-clock.ts';

const log = createLog({ level: 'silent', pretty: false });

describe('discovery by DNS', () => {
  let clock: VirtualClock;
  let answer: () => Promise<readonly string[]>;
  let lookups: number;
  let told: (readonly string[])[];
  let randomByte: number;
  let counted: string[];

  const watch = (): (() => void) => {
    const discovery = createDnsDiscovery(
      {
        clock,
        random: { bytes: (length) => new Uint8Array(length).fill(randomByte) },
        log,
        observer: {
          synced: () => counted.push('synced'),
          failed: (reason) => counted.push(reason),
          knows: (addresses) => counted.push(`knows ${addresses}`),
        },
        resolve: (name) => {
          assert.equal(name, 'shards.example');
          lookups += 1;
          return answer();
        },
      },
      { name: 'shards.example', port: 8082 },
    );
    return discovery.watch((addresses) => told.push(addresses));
  };

  beforeEach(() => {
    clock = new VirtualClock();
    answer = async () => ['10.0.0.2', '10.0.0.1'];
    lookups = 0;
    told = [];
    randomByte = 0;
    counted = [];
  });

  it('tells every address of the name with the port, IPv6 in brackets', async () => {
    answer = async () => ['10.0.0.2', 'fd00::1', '10.0.0.1', '10.0.0.2'];
    watch();
    await clock.advance(0);
    assert.deepEqual(told, [['10.0.0.1:8082', '10.0.0.2:8082', '[fd00::1]:8082']]);
  });

  it('takes no more addresses of a name than there can be shards', async () => {
    answer = async () => Array.from({ length: SHARD_ADDRESSES_MAX + 5 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
    watch();
    await clock.advance(0);
    assert.deepEqual(
      told.map((addresses) => addresses.length),
      [SHARD_ADDRESSES_MAX],
    );
    assert.ok(counted.includes(`knows ${SHARD_ADDRESSES_MAX}`));
  });

  it('looks again every 2 seconds, or a little sooner, and tells changes only', async () => {
    watch();
    await clock.advance(1999);
    assert.equal(lookups, 1);
    await clock.advance(1);
    assert.equal(lookups, 2);
    answer = async () => ['10.0.0.1', '10.0.0.2'];
    await clock.advance(4000);
    assert.equal(told.length, 1);
    answer = async () => ['10.0.0.3'];
    randomByte = 255;
    await clock.advance(2000);
    assert.deepEqual(told.at(-1), ['10.0.0.3:8082']);
    const before = lookups;
    await clock.advance(1500);
    assert.equal(lookups, before + 1);
  });

  it('keeps what it knows while the lookup fails, or finds nothing', async () => {
    watch();
    await clock.advance(0);
    answer = () => Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }));
    await clock.advance(10_000);
    answer = async () => [];
    await clock.advance(10_000);
    assert.deepEqual(told, [['10.0.0.1:8082', '10.0.0.2:8082']]);
    answer = async () => ['10.0.0.1'];
    await clock.advance(2000);
    assert.deepEqual(told.at(-1), ['10.0.0.1:8082']);
  });

  it('counts what it is told, every failure, and how many it knows', async () => {
    watch();
    await clock.advance(0);
    answer = async () => [];
    await clock.advance(4000);
    answer = async () => ['10.0.0.3'];
    await clock.advance(2000);
    assert.deepEqual(counted, [
      'knows 0',
      ...['synced', 'knows 2'],
      ...['unreachable', 'unreachable'],
      ...['synced', 'knows 1'],
    ]);
  });

  it('finds a name that did not exist at the start', async () => {
    answer = () => Promise.reject(new Error('getaddrinfo ENOTFOUND'));
    watch();
    await clock.advance(20_000);
    assert.deepEqual(told, []);
    answer = async () => ['10.0.0.1'];
    await clock.advance(2000);
    assert.deepEqual(told, [['10.0.0.1:8082']]);
  });

  it('has one lookup in flight at most, and takes what a slow one brings', async () => {
    let bring: (hosts: readonly string[]) => void = () => {};
    answer = () =>
      new Promise((resolve) => {
        bring = resolve;
      });
    watch();
    await clock.advance(60_000);
    assert.equal(lookups, 1);
    bring(['10.0.0.9']);
    await clock.advance(0);
    assert.deepEqual(told, [['10.0.0.9:8082']]);
    answer = async () => ['10.0.0.9'];
    await clock.advance(2000);
    assert.equal(lookups, 2);
  });

  it('says nothing more once it is not watched, whatever is in flight', async () => {
    let bring: (hosts: readonly string[]) => void = () => {};
    answer = () =>
      new Promise((resolve) => {
        bring = resolve;
      });
    const unwatch = watch();
    unwatch();
    bring(['10.0.0.1']);
    await clock.advance(10_000);
    assert.deepEqual(told, []);
    assert.equal(clock.timers, 0);
  });

  it('finds this machine with the resolver of the machine', async (context) => {
    const found = Promise.withResolvers<readonly string[]>();
    const discovery = createDnsDiscovery(
      { clock, random: { bytes: () => new Uint8Array(1) }, log },
      { name: 'localhost', port: 1 },
    );
    context.after(discovery.watch(found.resolve));
    assert.ok((await found.promise).some((address) => ['127.0.0.1:1', '[::1]:1'].includes(address)));
  });
});
