// The judgement of a shard's health: shards as clocks of what each part last showed, judged second by second.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HEALTH_PARTS, HealthJudge, type HealthPart } from '../../../../src/shard/ownership/health.ts';

const PROBE_MS = 5000;

/** Shards that show every 5 s what they can do, as idle ones do, and see each other. */
class World {
  nowMs = 1_000_000;
  readonly shards: Shard[];

  constructor(count: number) {
    this.shards = Array.from({ length: count }, (_, index) => new Shard(this.nowMs, index * 1300));
  }

  /** `each` sees every second. */
  run(forMs: number, each: () => void = () => {}): void {
    for (const endMs = this.nowMs + forMs; this.nowMs < endMs; ) {
      this.nowMs += 1000;
      for (const shard of this.shards) shard.show(this.nowMs);
      for (const shard of this.shards) {
        const others = this.shards.filter((other) => other !== shard).map(({ toldAtMs }) => toldAtMs);
        shard.judge(this.nowMs, Math.max(Number.NEGATIVE_INFINITY, ...others));
      }
      each();
    }
  }

  get unhealthy(): readonly number[] {
    return this.shards.flatMap(({ health }, index) => (health.state === 'unhealthy' ? [index] : []));
  }
}

class Shard {
  readonly broken = new Set<HealthPart>();
  readonly provenAtMs: Record<HealthPart, number>;
  openingOnly = false;
  heartbeats = true;
  killed = false;
  toldAtMs = Number.NEGATIVE_INFINITY;
  #steadySinceMs: number;
  readonly #phaseMs: number;
  readonly #judge = new HealthJudge();

  constructor(nowMs: number, phaseMs: number) {
    this.provenAtMs = { append: nowMs, apply: nowMs, 'loop-back': nowMs };
    this.#steadySinceMs = nowMs;
    this.#phaseMs = phaseMs;
  }

  get health() {
    return this.#judge.health;
  }

  show(nowMs: number): void {
    if (this.killed) return;
    const probes =
      Math.floor((nowMs + this.#phaseMs) / PROBE_MS) > Math.floor((nowMs - 1000 + this.#phaseMs) / PROBE_MS);
    for (const part of HEALTH_PARTS) {
      if (!this.broken.has(part) && (probes || part === 'loop-back')) this.provenAtMs[part] = nowMs;
    }
    const tells = this.heartbeats && this.health.state !== 'unhealthy';
    if (!tells) this.#steadySinceMs = Number.POSITIVE_INFINITY;
    else if (!Number.isFinite(this.#steadySinceMs)) this.#steadySinceMs = nowMs;
    if (tells && nowMs - Math.min(...Object.values(this.provenAtMs)) <= 2000) this.toldAtMs = nowMs + 1000;
  }

  judge(nowMs: number, othersProvenAtMs: number): void {
    if (this.killed) return;
    const { provenAtMs, openingOnly } = this;
    this.#judge.judge(nowMs, { provenAtMs, openingOnly, steadySinceMs: this.#steadySinceMs, othersProvenAtMs });
  }
}

describe('the judgement of health', () => {
  it('finds working shards healthy', () => {
    const world = new World(3);
    world.run(3_600_000, () => assert.deepEqual(world.unhealthy, []));
  });

  for (const [part, withinMs] of [
    ['append', 25_000],
    ['apply', 45_000],
    ['loop-back', 25_000],
  ] as const) {
    it(`makes a shard whose part "${part}" fails give up within ${withinMs / 1000} s, and no other`, () => {
      const world = new World(3);
      world.run(60_000);
      world.shards[1]?.broken.add(part);
      world.run(8000);
      assert.deepEqual(world.unhealthy, []);
      world.run(withinMs - 8000);
      assert.deepEqual(world.unhealthy, [1]);
      assert.equal(world.shards[1]?.health.state === 'unhealthy' && world.shards[1].health.part, part);
      world.run(3_600_000, () => assert.deepEqual(world.unhealthy, [1]));
    });

    it(`lets no member give up while "${part}" fails for all, whenever it began for each`, () => {
      for (let phaseMs = 0; phaseMs < PROBE_MS; phaseMs += 1000) {
        const world = new World(3);
        world.run(60_000 + phaseMs);
        for (const shard of world.shards) shard.broken.add(part);
        world.run(600_000, () => assert.deepEqual(world.unhealthy, []));
        assert.ok(world.shards.every(({ health }) => health.state === 'suspect'));
        for (const shard of world.shards) shard.broken.clear();
        world.run(600_000, () => assert.deepEqual(world.unhealthy, []));
        assert.ok(world.shards.every(({ health }) => health.state === 'healthy'));
      }
    });
  }

  it('judges no member while heartbeats fail, nor by that time afterwards', () => {
    const world = new World(3);
    world.run(60_000);
    for (const shard of world.shards) {
      shard.heartbeats = false;
      for (const part of ['append', 'apply'] as const) shard.broken.add(part);
    }
    world.run(120_000, () => assert.ok(world.shards.every(({ health }) => health.state === 'healthy')));
    // They come back one after another, and write only a little later.
    for (const shard of world.shards) {
      shard.heartbeats = true;
      world.run(4000);
      shard.broken.clear();
    }
    world.run(120_000, () => assert.deepEqual(world.unhealthy, []));
  });

  it('judges no member by the time in which it alone could not reach the store', () => {
    const world = new World(3);
    world.run(60_000);
    const [shard] = world.shards;
    assert.ok(shard !== undefined);
    shard.heartbeats = false;
    for (const part of ['append', 'apply'] as const) shard.broken.add(part);
    world.run(120_000, () => assert.equal(shard.health.state, 'healthy'));
    shard.heartbeats = true;
    world.run(8000);
    shard.broken.clear();
    world.run(120_000, () => assert.deepEqual(world.unhealthy, []));
  });

  it('never makes the last or only shard give up', () => {
    const alone = new World(1);
    alone.run(60_000);
    alone.shards[0]?.broken.add('append');
    alone.run(600_000, () => assert.deepEqual(alone.unhealthy, []));

    const world = new World(3);
    world.run(60_000);
    const [first, second, last] = world.shards;
    first?.broken.add('append');
    world.run(60_000);
    second?.broken.add('append');
    world.run(60_000);
    assert.deepEqual(world.unhealthy, [0, 1]);
    last?.broken.add('append');
    world.run(25_000, () => assert.deepEqual(world.unhealthy, [0, 1]));
    // Now no member could do better than another; together they at least answer from memory.
    world.run(35_000);
    world.run(600_000, () => assert.deepEqual(world.unhealthy, []));
  });

  it('brings back those who gave up once no other member is left', () => {
    const world = new World(2);
    world.run(60_000);
    world.shards[0]?.broken.add('append');
    world.run(60_000);
    assert.deepEqual(world.unhealthy, [0]);
    const [, last] = world.shards;
    assert.ok(last !== undefined);
    last.killed = true;
    world.run(35_000);
    assert.deepEqual(world.unhealthy, []);
  });

  it('brings a shard back when it works again, after a back-off that doubles with each relapse', () => {
    const world = new World(3);
    const [shard] = world.shards;
    assert.ok(shard !== undefined);
    world.run(60_000);
    const outMs: number[] = [];
    for (let relapse = 0; relapse < 7; relapse += 1) {
      shard.broken.add('append');
      world.run(25_000);
      assert.deepEqual(world.unhealthy, [0]);
      shard.broken.clear();
      const startMs = world.nowMs;
      while (world.unhealthy.length > 0) world.run(1000);
      outMs.push(world.nowMs - startMs);
      world.run(10_000);
    }
    for (const [index, tookMs] of outMs.entries()) {
      const backoffMs = Math.min(30_000 * 2 ** index, 600_000);
      assert.ok(tookMs <= backoffMs && tookMs >= backoffMs - 20_000, `out for ${tookMs} ms at relapse ${index}`);
    }
    // Healthy for long, it begins with the shortest again.
    world.run(1_000_000);
    shard.broken.add('append');
    world.run(25_000);
    assert.deepEqual(world.unhealthy, [0]);
    shard.broken.clear();
    world.run(31_000);
    assert.deepEqual(world.unhealthy, []);
  });

  it('ignores the time in which the process itself was suspended', () => {
    const world = new World(2);
    world.run(60_000);
    const [first, second] = world.shards;
    assert.ok(first !== undefined && second !== undefined);
    // One stands still for a minute: the other goes on.
    for (let elapsed = 0; elapsed < 60; elapsed += 1) {
      world.nowMs += 1000;
      second.show(world.nowMs);
    }
    first.judge(world.nowMs, second.toldAtMs);
    assert.equal(first.health.state, 'healthy');
    world.run(60_000, () => assert.deepEqual(world.unhealthy, []));
  });

  it('gives a shard that serves nothing yet a minute to recover its first slot', () => {
    const world = new World(3);
    const [shard] = world.shards;
    assert.ok(shard !== undefined);
    world.run(60_000);
    shard.openingOnly = true;
    shard.broken.add('append');
    world.run(55_000);
    assert.deepEqual(world.unhealthy, []);
    world.run(15_000);
    assert.deepEqual(world.unhealthy, [0]);
  });
});
