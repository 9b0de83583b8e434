// Discovery by DNS, with a resolver and a clock of the test's own: every change is told once, failures change nothing.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Clock } from '../../../src/core/clock.ts';
import { createDnsDiscovery } from '../../../src/discovery/dns.ts';
import { createLog } from '../../../src/telemetry/log.ts';

const log = createLog({ level: 'silent', pretty: false });

/** Runs what is due, in order, and lets promises settle in between. */
class VirtualClock implements Clock {
  #nowMs = 0;
  #timers: { readonly dueMs: number; readonly run: () => void }[] = [];

  monotonicMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#nowMs;
  }

  setTimer(run: () => void, delayMs: number): { cancel(): void } {
    const timer = { dueMs: this.#nowMs + delayMs, run };
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((each) => each !== timer);
      },
    };
  }

  setImmediate(run: () => void): void {
    this.setTimer(run, 0);
  }

  get timers(): number {
    return this.#timers.length;
  }

  async advance(byMs: number): Promise<void> {
    const endMs = this.#nowMs + byMs;
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const [next] = this.#timers.sort((left, right) => left.dueMs - right.dueMs);
      if (next === undefined || next.dueMs > endMs) break;
      this.#timers = this.#timers.filter((each) => each !== next);
      this.#nowMs = next.dueMs;
      next.run();
    }
    this.#nowMs = endMs;
  }
}

describe('discovery by DNS', () => {
  let clock: VirtualClock;
  let answer: () => Promise<readonly string[]>;
  let lookups: number;
  let told: (readonly string[])[];
  let randomByte: number;

  const watch = (): (() => void) => {
    const discovery = createDnsDiscovery(
      {
        clock,
        random: { bytes: (length) => new Uint8Array(length).fill(randomByte) },
        log,
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
  });

  it('tells every address of the name with the port, IPv6 in brackets', async () => {
    answer = async () => ['10.0.0.2', 'fd00::1', '10.0.0.1', '10.0.0.2'];
    watch();
    await clock.advance(0);
    assert.deepEqual(told, [['10.0.0.1:8082', '10.0.0.2:8082', '[fd00::1]:8082']]);
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

  it('keeps what it knows while the look-up fails, or finds nothing', async () => {
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

  it('finds a name that did not exist at the start', async () => {
    answer = () => Promise.reject(new Error('getaddrinfo ENOTFOUND'));
    watch();
    await clock.advance(20_000);
    assert.deepEqual(told, []);
    answer = async () => ['10.0.0.1'];
    await clock.advance(2000);
    assert.deepEqual(told, [['10.0.0.1:8082']]);
  });

  it('has one look-up under way at most, and takes what a slow one brings', async () => {
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

  it('says nothing more once it is not watched, whatever is under way', async () => {
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
