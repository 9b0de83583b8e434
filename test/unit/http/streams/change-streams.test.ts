// Streams and pages that wait: what reaches a client in which order, what they may take, and how they end.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ErrorCode, GrantdError } from '../../../../src/core/errors.ts';
import { BUILT_IN_PLANS } from '../../../../src/core/plans.ts';
import type { TenantSession } from '../../../../src/front/front.ts';
import {
  ChangeStreams,
  STREAM_BOUNDS,
  type StreamBounds,
  type StreamQuery,
} from '../../../../src/http/streams/change-streams.ts';
import { TICK_MS, TICKS_PER_CHECKPOINT } from '../../../../src/http/streams/stream-limits.ts';
import { systemRandom } from '../../../../src/roles/process/system.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { HeldTurns } from '../../support/held-turns.ts';
import { grantChange } from '../fake-change-feed.ts';
import { FakeClient, openSession } from './stream-parts.ts';

const CHECKPOINT_MS = TICK_MS * TICKS_PER_CHECKPOINT;

class Harness {
  readonly clock = new VirtualClock();
  readonly turns = new HeldTurns();
  readonly stopped: string[] = [];
  delivered = 0;
  readonly streams: ChangeStreams;
  /** Ends the connection of the request opened last. */
  leave = (): void => {};

  constructor(bounds: Partial<StreamBounds> = {}) {
    this.turns.holding = false;
    const meter = {
      delivered: (changes: number) => {
        this.delivered += changes;
      },
      stopped: (kind: string, reason: string) => {
        this.stopped.push(`${kind} ${reason}`);
      },
    };
    const plans = new Map([...BUILT_IN_PLANS]);
    this.streams = new ChangeStreams(
      { clock: this.clock, turns: this.turns, random: systemRandom, meter },
      { ...STREAM_BOUNDS, ...bounds, plans },
    );
  }

  /** Whatever waits for its turn is done. */
  settle(): void {
    while (this.turns.waiting > 0) this.turns.release();
  }

  get request() {
    return {
      onceClosed: (listener: () => void) => {
        this.leave = listener;
      },
    };
  }

  async open(
    session: TenantSession,
    { start = {}, filter = {}, format = 'ndjson', marksBatches = false }: Partial<StreamQuery> = {},
  ): Promise<FakeClient> {
    return new FakeClient(await this.streams.open(this.request, session, { start, filter, format, marksBatches }));
  }
}

const isCode = (code: ErrorCode) => (error: unknown) => error instanceof GrantdError && error.code === code;

describe('a stream of changes', () => {
  it('sends existing changes, then new ones, each once and in order', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    feed.commit(grantChange(1), grantChange(2));
    const client = await harness.open(session);
    feed.commit(grantChange(3));
    feed.commit(grantChange(4), grantChange(5));
    assert.deepEqual(client.events, ['change c1', 'change c2', 'checkpoint c2', 'change c3', 'change c4', 'change c5']);
    assert.equal(harness.delivered, 5);
  });

  it('begins at the given start', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    feed.commit(grantChange(1), grantChange(2));
    const later = await harness.open(session, { start: { cursor: 'c1' } });
    const now = await harness.open(session, { start: { since: 'now' } });
    feed.commit(grantChange(3));
    assert.deepEqual(later.events, ['change c2', 'checkpoint c2', 'change c3']);
    assert.deepEqual(now.events.at(0), 'change c3');
  });

  it('sends changes that pass its filter, and checkpoints even if none do', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    const client = await harness.open(session, { filter: { namespaces: ['folder'] } });
    feed.commit(grantChange(1));
    feed.commit(grantChange(2, 'folder'), grantChange(3));
    feed.commit(grantChange(4));
    assert.deepEqual(client.events, ['checkpoint c1', 'change c2']);
    await harness.clock.advance(CHECKPOINT_MS);
    assert.deepEqual(client.events, ['checkpoint c1', 'change c2', 'checkpoint c4']);
  });

  it('has a checkpoint within 15 s as often as the owner says how far it is, and none without', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    const client = await harness.open(session);
    for (let count = 1; count <= 3; count += 1) {
      feed.rest();
      await harness.clock.advance(CHECKPOINT_MS);
      assert.equal(client.events.length, count);
    }
    await harness.clock.advance(3 * CHECKPOINT_MS);
    assert.equal(client.events.length, 3);
    feed.rest();
    assert.equal(client.events.length, 4, 'the one that was due');
    assert.ok(CHECKPOINT_MS <= 15_000);
  });

  it('spreads the checkpoints of many over time', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    const clients = await Promise.all(Array.from({ length: 2 * TICKS_PER_CHECKPOINT }, () => harness.open(session)));
    feed.rest();
    const count = (): number => clients.reduce((sum, { parts }) => sum + parts, 0);
    assert.equal(count(), clients.length);
    for (let tick = 1; tick <= TICKS_PER_CHECKPOINT; tick += 1) {
      feed.rest();
      await harness.clock.advance(TICK_MS);
      assert.equal(count(), clients.length + 2 * tick);
    }
  });

  it('has a checkpoint with the last whole entry after each batch of which something passes, if asked to', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    const filter = { namespaces: ['folder'] };
    const start = { since: 'now' } as const;
    const marked = await harness.open(session, { filter, start, marksBatches: true });
    const events = await harness.open(session, { filter, start, marksBatches: true, format: 'sse' });
    const seldom = await harness.open(session, { filter, start });
    harness.turns.holding = true;
    feed.commit(grantChange(1, 'folder'), grantChange(2, 'folder'));
    feed.commit(grantChange(3));
    feed.commit(grantChange(4, 'folder'));
    harness.settle();
    // Two batches were sent in one step: each has its checkpoint. One of which nothing passes needs none.
    const [first, second] = [['change c1', 'change c2'], ['change c4']];
    assert.deepEqual(marked.events, [...first, 'checkpoint c2', ...second, 'checkpoint c4']);
    assert.deepEqual(seldom.events, [...first, ...second, 'checkpoint c4']);
    const seqs = (text: string): readonly string[] => text.match(/"at":"[^"]*","seq":\d+}/g) ?? [];
    for (const { text } of [marked, events]) {
      assert.deepEqual(
        seqs(text).map((each) => each.replace(/.*"seq":/, '')),
        ['1}', '4}'],
      );
    }
  });

  it('encodes a batch once for all that ask for the same', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    const chunks = new Set<Buffer>();
    for (const filter of [{}, {}, { relations: ['viewer'] }, { relations: ['viewer'] }]) {
      const client = await harness.open(session, { filter, start: { since: 'now' } });
      const send = client.send.bind(client);
      client.send = (part) => {
        chunks.add(part.chunk);
        return send(part);
      };
    }
    feed.commit(grantChange(1));
    assert.equal(chunks.size, 3, 'the change in two forms, and a checkpoint');
  });

  it('sends a few at a time where others wait, and in the turns of the tenant', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    const clients = await Promise.all(Array.from({ length: 40 }, () => harness.open(session)));
    harness.turns.holding = true;
    feed.commit(grantChange(1));
    const reached = (): number => clients.filter(({ parts }) => parts > 0).length;
    assert.deepEqual([reached(), ...harness.turns.keys], [0, session.tenantId]);
    harness.turns.holding = false;
    harness.turns.release();
    assert.ok(reached() > 0 && reached() < 40, String(reached()));
    harness.settle();
    assert.equal(reached(), 40);
  });

  it('has no place once its client has gone, and leaves the feed', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    const client = await harness.open(session);
    client.leave();
    assert.deepEqual([feed.followers, ...harness.stopped], [0, 'ndjson client']);
    assert.deepEqual(harness.streams.countByKind(), { ndjson: 0, sse: 0, page: 0 });
    feed.commit(grantChange(1));
    await harness.clock.advance(2 * CHECKPOINT_MS);
    assert.deepEqual([client.text, harness.clock.timers], ['', 0]);
  });

  it('does not begin for a client that has gone in the meantime', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    const { promise, resolve } = Promise.withResolvers<void>();
    feed.gate = promise;
    const opening = harness.streams.open(harness.request, session, { start: {}, filter: {}, format: 'sse' });
    harness.leave();
    resolve();
    await assert.rejects(opening, isCode('unavailable'));
    assert.deepEqual([feed.followers, harness.stopped.length], [0, 0]);
  });

  it('does not begin if the feed refuses its start, and takes no place', async () => {
    const harness = new Harness();
    const { session } = await openSession();
    await assert.rejects(harness.open(session, { start: { cursor: 'x' } }), isCode('invalid-cursor'));
    assert.deepEqual(harness.streams.countByKind(), { ndjson: 0, sse: 0, page: 0 });
  });
});

describe('a client that is slow', () => {
  it('gets everything in order when it goes on, and no checkpoint before what it covers', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    const client = await harness.open(session);
    client.stalled = true;
    for (let id = 1; id <= 50; id += 1) feed.commit(grantChange(id));
    feed.rest();
    await harness.clock.advance(CHECKPOINT_MS);
    assert.deepEqual([client.parts, feed.behind], [1, 1]);
    client.stalled = false;
    client.take();
    harness.settle();
    feed.rest();
    const expected = Array.from({ length: 50 }, (_, index) => `change c${index + 1}`);
    assert.deepEqual(
      client.events.filter((event) => event.startsWith('change')),
      expected,
    );
    await harness.clock.advance(CHECKPOINT_MS);
    assert.deepEqual(client.events.slice(0, 3), ['change c1', 'checkpoint c1', 'change c2']);
    assert.equal(client.events.at(-1), 'checkpoint c50');
    assert.equal(harness.streams.heldBytes, 0);
  });

  it('is cut off once it has taken nothing for 30 s, and no other', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    const [slow, keen] = [await harness.open(session), await harness.open(session)];
    feed.commit(grantChange(1));
    slow.stalled = true;
    feed.commit(grantChange(2));
    await harness.clock.advance(STREAM_BOUNDS.streamStallMs - 1);
    assert.equal(slow.state, 'open');
    await harness.clock.advance(TICK_MS + 1);
    assert.deepEqual([slow.state, keen.state, ...harness.stopped], ['cut', 'open', 'ndjson slow']);
    assert.deepEqual([feed.followers, harness.streams.heldBytes], [1, 0]);
  });

  it('is cut off when those of its tenant hold too much, the one that waits longest first', async () => {
    const harness = new Harness({ tenantStreamBytesMax: 20_000 });
    const { session, feed } = await openSession();
    const clients = [];
    for (let id = 0; id < 20; id += 1) {
      const client = await harness.open(session, { start: { since: 'now' } });
      client.stalled = true;
      clients.push(client);
      feed.commit(...Array.from({ length: 10 }, () => grantChange(id)));
      await harness.clock.advance(1);
      assert.ok(harness.streams.heldBytes <= 20_000, String(harness.streams.heldBytes));
    }
    const states = clients.map(({ state }) => state);
    const open = states.indexOf('open');
    assert.ok(open > 0 && states.slice(open).every((state) => state === 'open'), states.join(' '));
    assert.ok(harness.stopped.every((stop) => stop === 'ndjson memory'));
  });

  it('costs what it shares with others only once', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    const clients = await Promise.all(Array.from({ length: 30 }, () => harness.open(session)));
    for (const client of clients) client.stalled = true;
    feed.commit(grantChange(1));
    const [first] = clients;
    assert.ok(first !== undefined);
    assert.ok(harness.streams.heldBytes < 2 * first.text.length + 100, String(harness.streams.heldBytes));
    for (const client of clients) client.take();
    assert.equal(harness.streams.heldBytes, 0);
  });

  it('is cut off when those of all tenants hold too much, in the tenant that holds most', async () => {
    const harness = new Harness({ streamBytesMax: 10_000 });
    const [greedy, modest] = [await openSession(), await openSession()];
    const few = await harness.open(modest.session);
    few.stalled = true;
    modest.feed.commit(grantChange(1));
    const many = await harness.open(greedy.session);
    many.stalled = true;
    greedy.feed.commit(...Array.from({ length: 40 }, (_, id) => grantChange(id)));
    assert.deepEqual([few.state, many.state], ['open', 'cut']);
  });
});

describe('the places of streams', () => {
  it('are as many for a tenant as its plan says, and waiting pages take them too', async () => {
    const harness = new Harness();
    const { session } = await openSession('free');
    const clients = await Promise.all(Array.from({ length: 9 }, () => harness.open(session)));
    const page = harness.streams.awaitPage(harness.request, session, {
      cursor: 'c0',
      seq: 0,
      filter: {},
      limit: 1,
      waitMs: 1000,
    });
    await assert.rejects(harness.open(session), isCode('too-many-streams'));
    const other = await openSession('free');
    await harness.open(other.session);
    clients[0]?.leave();
    await harness.open(session);
    await harness.clock.advance(1000);
    assert.deepEqual(await page, { changes: [], cursor: 'c0', seq: 0 });
    await harness.open(session);
  });

  it('go to a tenant with fewer, if the front has no more of them', async () => {
    const harness = new Harness({ streamsMax: 10 });
    const [greedy, modest] = [await openSession(), await openSession()];
    const many = await Promise.all(Array.from({ length: 10 }, () => harness.open(greedy.session, { format: 'sse' })));
    await assert.rejects(harness.open(greedy.session), isCode('too-many-streams'));
    const few = [];
    for (let count = 0; count < 5; count += 1) few.push(await harness.open(modest.session));
    await assert.rejects(harness.open(modest.session), isCode('too-many-streams'));
    assert.deepEqual(
      many.map(({ state }) => state),
      [...Array.from({ length: 5 }, () => 'ended'), ...Array.from({ length: 5 }, () => 'open')],
    );
    assert.match(many[0]?.text ?? '', /^retry: [0-9]+\n\n$/);
    assert.ok(few.every(({ state }) => state === 'open'));
  });
});

describe('the end of a stream', () => {
  it('comes with the expiry of its key, without a word more', async () => {
    const harness = new Harness();
    const { session, feed, expire } = await openSession();
    const client = await harness.open(session, { format: 'sse', start: { since: 'now' } });
    const before = client.text;
    expire();
    await harness.clock.advance(TICK_MS);
    feed.commit(grantChange(1));
    assert.deepEqual([client.state, client.text, ...harness.stopped], ['ended', before, 'sse key']);
  });

  for (const [code, reason, hinted] of [
    ['unauthorized', 'key', false],
    ['tenant-suspended', 'key', false],
    ['unavailable', 'failed', true],
    [undefined, 'draining', true],
  ] as const) {
    it(`comes when the feed ends with ${code ?? 'the front'}, ${hinted ? 'with' : 'without'} a hint to come back`, async () => {
      const harness = new Harness();
      const { session, feed } = await openSession();
      const [events, lines] = [await harness.open(session, { format: 'sse' }), await harness.open(session)];
      feed.end(code === undefined ? undefined : new GrantdError(code, 'The end.'));
      assert.deepEqual([events.state, lines.state], ['ended', 'ended']);
      assert.equal(/^retry: [0-9]+\n\n$/m.test(events.text), hinted);
      assert.equal(lines.text, '');
      assert.deepEqual(harness.stopped, [`sse ${reason}`, `ndjson ${reason}`]);
    });
  }

  it('cuts a client that has not taken what was sent before', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    const client = await harness.open(session);
    client.stalled = true;
    feed.commit(grantChange(1));
    feed.end(new GrantdError('unauthorized', 'The key has been revoked.'));
    assert.deepEqual([client.state, harness.streams.heldBytes], ['cut', 0]);
  });

  it('comes one after another at a front that is closing, also for those that begin then', async () => {
    const harness = new Harness();
    const { session } = await openSession();
    const clients = await Promise.all(Array.from({ length: 80 }, () => harness.open(session, { format: 'sse' })));
    harness.streams.drain();
    const open = (): number => clients.filter(({ state }) => state === 'open').length;
    const counts: number[] = [];
    while (open() > 0) {
      if (counts.length === 2) clients.push(await harness.open(session, { format: 'sse' }));
      await harness.clock.advance(TICK_MS);
      counts.push(open());
    }
    assert.ok(counts.length * TICK_MS <= 5000 && counts.length >= 6, counts.join(' '));
    const hints = new Set(clients.map(({ text }) => text));
    assert.ok(hints.size > 10, 'they come back at different times');
  });

  it('comes at once at a front that has closed', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    const client = await harness.open(session, { format: 'sse' });
    harness.streams.close();
    assert.deepEqual([client.state, feed.followers, harness.clock.timers], ['ended', 0, 0]);
  });
});

describe('a page that waits', () => {
  const query = { cursor: 'c0', seq: 0, filter: { namespaces: ['folder'] }, limit: 2, waitMs: 30_000 };

  it('has the first changes that fit, and goes on after the last of them', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    const page = harness.streams.awaitPage(harness.request, session, query);
    await harness.clock.advance(1);
    feed.commit(grantChange(1));
    feed.commit(grantChange(2, 'folder'), grantChange(3), grantChange(4, 'folder'), grantChange(5, 'folder'));
    const { changes, cursor, seq } = await page;
    // The entry has one more that fits: it is not whole.
    assert.deepEqual([changes.map((change) => change.cursor), cursor, seq], [['c2', 'c4'], 'c4', 1]);
    assert.deepEqual([feed.followers, harness.streams.countByKind().page], [0, 0]);
  });

  it('is empty after its time, and goes on after what did not fit', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    const page = harness.streams.awaitPage(harness.request, session, query);
    await harness.clock.advance(1);
    feed.commit(grantChange(1));
    await harness.clock.advance(30_000);
    assert.deepEqual(await page, { changes: [], cursor: 'c1', seq: 1 });
  });

  it('is the error of the feed, if that ends', async () => {
    const harness = new Harness();
    const { session, feed, expire } = await openSession();
    const revoked = harness.streams.awaitPage(harness.request, session, query);
    await harness.clock.advance(1);
    feed.end(new GrantdError('tenant-suspended', 'Suspended.'));
    await assert.rejects(revoked, isCode('tenant-suspended'));
    const refused = harness.streams.awaitPage(harness.request, session, { ...query, cursor: 'x' });
    await assert.rejects(refused, isCode('invalid-cursor'));
    const expired = harness.streams.awaitPage(harness.request, session, query);
    expire();
    await harness.clock.advance(TICK_MS);
    // Only the owner says that a key has expired, to the next call.
    assert.deepEqual(await expired, { changes: [], cursor: 'c0', seq: 0 });
    assert.equal(harness.streams.countByKind().page, 0);
  });

  it('is empty at once when the client has gone, or the front is closing', async () => {
    const harness = new Harness();
    const { session, feed } = await openSession();
    const left = harness.streams.awaitPage(harness.request, session, query);
    harness.leave();
    assert.deepEqual(await left, { changes: [], cursor: 'c0', seq: 0 });
    const drained = harness.streams.awaitPage(harness.request, session, query);
    harness.streams.close();
    assert.deepEqual(await drained, { changes: [], cursor: 'c0', seq: 0 });
    await harness.clock.advance(1);
    assert.equal(feed.followers, 0);
  });
});
