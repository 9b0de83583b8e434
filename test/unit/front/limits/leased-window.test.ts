// A front's part in a shared window, on virtual time: never more than the limit, nearly all of it, and no wait in
// between.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RateDecision } from '../../../../src/front/limits/rate-limiter.ts';
import {
  type DecisionSource,
  LeasedWindow,
  type WindowLimit,
} from '../../../../src/front/limits/shared-rate-limiter.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { VirtualCounts } from '../joint-counts.ts';

const KEY = 'pten_a';

class Fronts {
  readonly clock = new VirtualClock();
  readonly counts = new VirtualCounts(this.clock);
  readonly windows: readonly LeasedWindow[];
  readonly sources: Record<DecisionSource, number> = { memory: 0, redis: 0, share: 0 };
  allowed = 0;
  refused = 0;
  /** Let through, by the end of the window in which that was. */
  readonly allowedByWindow = new Map<number, number>();
  readonly lengthMs: number;

  constructor(fronts: number, limit: WindowLimit) {
    this.lengthMs = limit.windowSeconds * 1000;
    this.counts.fronts = fronts;
    const onDecided = (source: DecisionSource): void => {
      this.sources[source] += 1;
    };
    const { counts, clock } = this;
    this.windows = Array.from({ length: fronts }, () => new LeasedWindow({ counts, clock, onDecided }, KEY, limit));
  }

  front(index: number): LeasedWindow {
    return this.windows[index % this.windows.length] ?? assert.fail('There is a front.');
  }

  /** One request. What waited was counted halfway back. */
  send(index: number): void {
    const decision = this.front(index).consume();
    if (!(decision instanceof Promise)) this.#note(decision, 0);
    else void decision.then((decided) => this.#note(decided, this.counts.roundTripMs / 2));
  }

  async now(index = 0): Promise<RateDecision> {
    const decision = this.front(index).consume();
    if (!(decision instanceof Promise)) return decision;
    await this.clock.advance(300);
    return decision;
  }

  /** A steady load over the fronts in turn. */
  async load(durationMs: number, perMs: number): Promise<void> {
    let sent = 0;
    for (let passedMs = 1; passedMs <= durationMs; passedMs += 1) {
      for (; sent < passedMs * perMs; sent += 1) this.send(sent);
      await this.clock.advance(1);
    }
  }

  #note({ allowed }: RateDecision, agoMs: number): void {
    if (!allowed) {
      this.refused += 1;
      return;
    }
    this.allowed += 1;
    // The window known to the counts may lie behind or ahead of the moment, by whole windows.
    const atMs = this.clock.monotonicMs() - agoMs;
    const passed = (this.counts.endsMs(KEY) - atMs) % this.lengthMs;
    const untilEndMs = passed <= 0 ? passed + this.lengthMs : passed;
    const endsMs = Math.round(atMs + untilEndMs);
    this.allowedByWindow.set(endsMs, (this.allowedByWindow.get(endsMs) ?? 0) + 1);
  }
}

describe('a leased window', () => {
  for (const fronts of [1, 2, 4]) {
    for (const roundTripMs of [1, 50]) {
      it(`lets the limit through and no more: ${fronts} fronts at four times the limit, ${roundTripMs} ms away`, async () => {
        const cluster = new Fronts(fronts, { requests: 2000, windowSeconds: 1 });
        cluster.counts.roundTripMs = roundTripMs;
        await cluster.load(4000, 8);
        const windows = [...cluster.allowedByWindow.entries()].sort(([left], [right]) => left - right);
        assert.ok(windows.length >= 4, JSON.stringify(windows));
        for (const [endsMs, allowed] of windows) assert.ok(allowed <= 2000, `${allowed} in the window to ${endsMs}`);
        // The last one was cut short by the end of the load.
        for (const [endsMs, allowed] of windows.slice(0, -1)) {
          assert.ok(allowed >= 1980, `${allowed} in the window to ${endsMs}`);
        }
        assert.equal(cluster.sources.share, 0);
      });
    }
  }

  it('spends on the border of two windows what is left of both', async () => {
    const cluster = new Fronts(2, { requests: 2000, windowSeconds: 1 });
    cluster.counts.roundTripMs = 50;
    await cluster.load(900, 1.5);
    // A window is not used up, and the next one is from its very beginning.
    const untilEndMs = cluster.counts.endsMs(KEY) - cluster.clock.monotonicMs();
    await cluster.load(untilEndMs - 5, 1.5);
    await cluster.load(1000, 8);
    const windows = [...cluster.allowedByWindow.values()];
    assert.ok(windows.length >= 2);
    for (const allowed of windows) assert.ok(allowed <= 2000, JSON.stringify(windows));
    // What was paid for twice is lost: a flight's worth, where the load rises just then.
    assert.ok(Math.max(...windows) >= 1900, JSON.stringify(windows));
  });

  it('makes no request wait in the steady state, however far the counts are', async () => {
    const cluster = new Fronts(4, { requests: 10_000, windowSeconds: 1 });
    cluster.counts.roundTripMs = 50;
    await cluster.load(2000, 5);
    const waited = cluster.sources.redis;
    assert.ok(waited > 0, 'the first ones wait');
    await cluster.load(5000, 5);
    assert.equal(cluster.sources.redis, waited);
    assert.equal(cluster.sources.share, 0);
    assert.equal(cluster.refused, 0);
    assert.ok(cluster.counts.calls < 7 * 4 * 120, `${cluster.counts.calls} calls`);
  });

  it('counts plans of ten a second or less one by one', async () => {
    const cluster = new Fronts(4, { requests: 20, windowSeconds: 2 });
    await cluster.load(1900, 0.05);
    assert.equal(cluster.allowed, 20);
    // Once it is known to be used up, nobody is asked.
    assert.ok(cluster.counts.calls <= 24, `${cluster.counts.calls} calls`);
    assert.equal(cluster.sources.redis, cluster.counts.calls);
  });

  it('decides a request of a small plan by the share after 20 ms, and still learns from the late answer', async () => {
    const cluster = new Fronts(2, { requests: 10, windowSeconds: 60 });
    cluster.counts.roundTripMs = 100;
    const started = cluster.clock.monotonicMs();
    const decision = cluster.front(0).consume();
    let decidedMs = 0;
    void Promise.resolve(decision).then(() => {
      decidedMs = cluster.clock.monotonicMs();
    });
    await cluster.clock.advance(60);
    assert.equal(decidedMs, started + 20);
    assert.deepEqual(await decision, { allowed: true, limit: 10, remaining: 4, resetSeconds: 60 });
    cluster.counts.exhaust(KEY);
    await cluster.clock.advance(100);
    assert.equal((await cluster.now()).allowed, true, 'it is not known yet');
    await cluster.clock.advance(100);
    assert.equal((await cluster.now()).allowed, false);
  });

  it('goes on with its share when the counts are lost, less what it has used', async () => {
    const cluster = new Fronts(4, { requests: 100, windowSeconds: 5 });
    cluster.counts.fronts = 4;
    for (let count = 0; count < 10; count += 1) assert.equal((await cluster.now()).allowed, true);
    cluster.counts.reachable = false;
    let allowed = 10;
    while ((await cluster.now()).allowed) allowed += 1;
    assert.equal(allowed, 25);
    const { remaining, resetSeconds } = await cluster.now();
    assert.equal(remaining, 0);
    assert.ok(resetSeconds >= 1 && resetSeconds <= 5);
    await cluster.clock.advance(5000);
    allowed = 0;
    while ((await cluster.now()).allowed) allowed += 1;
    assert.equal(allowed, 25, 'in a window of its own');
    cluster.counts.reachable = true;
    await cluster.clock.advance(5000);
    assert.equal((await cluster.now()).remaining, 99);
  });

  it('lets something through where there are more fronts than requests', async () => {
    const cluster = new Fronts(1, { requests: 2, windowSeconds: 1 });
    cluster.counts.fronts = 5;
    cluster.counts.reachable = false;
    assert.deepEqual([(await cluster.now()).allowed, (await cluster.now()).allowed], [true, false]);
  });

  it('waits for a failure once, then goes by the share for a second', async () => {
    const cluster = new Fronts(1, { requests: 10_000, windowSeconds: 10 });
    cluster.counts.failsAfterMs = 250;
    for (let count = 0; count < 5; count += 1) cluster.send(0);
    await cluster.clock.advance(250);
    assert.deepEqual(cluster.sources, { memory: 0, redis: 0, share: 5 });
    await cluster.load(500, 1);
    assert.equal(cluster.counts.calls, 1);
    assert.equal(cluster.sources.share, 505);
    await cluster.load(600, 1);
    assert.ok(cluster.counts.calls > 1);
  });

  it('says how much is left and for how long', async () => {
    const cluster = new Fronts(1, { requests: 1000, windowSeconds: 10 });
    assert.deepEqual(await cluster.now(), { allowed: true, limit: 1000, remaining: 999, resetSeconds: 10 });
    assert.deepEqual(await cluster.now(), { allowed: true, limit: 1000, remaining: 998, resetSeconds: 10 });
    await cluster.clock.advance(8000);
    assert.equal((await cluster.now()).resetSeconds, 2);
  });

  it('begins again with the first request after an idle window', async () => {
    const cluster = new Fronts(1, { requests: 1000, windowSeconds: 1 });
    await cluster.load(900, 1);
    await cluster.clock.advance(2500);
    assert.deepEqual(await cluster.now(), { allowed: true, limit: 1000, remaining: 999, resetSeconds: 1 });
  });

  it('holds nothing once it is over', async () => {
    const cluster = new Fronts(1, { requests: 1000, windowSeconds: 1 });
    await cluster.load(100, 1);
    assert.ok(cluster.front(0).idleAfterMs() > 0);
    await cluster.clock.advance(1000);
    assert.equal(cluster.front(0).idleAfterMs(), 0);
  });
});
