// The cluster page over HTTP: what is not of now says so with its age, what is above its bound is marked in words, and
// the last hour is there whoever opens the page when.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { LAG_MAX, P99_MS_MAX } from '../../../../packages/console/src/pages/cluster-figures.ts';
import { CROWDED_SHARE_MIN } from '../../../../src/core/async/turns.ts';
import { GrantdError } from '../../../../src/core/errors.ts';
import { systemRandom } from '../../../../src/roles/process/system.ts';
import { type ConsoleService, OPERATOR_TOKEN, startConsole } from '../../../kit/console-service.ts';
import { readText } from '../../../kit/source-tree.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { loadOf, memberView, slotView } from '../cluster-picture.ts';
import { ConsoleVisitor } from '../console-visitor.ts';

const MINUTE_MS = 60_000;

describe('the cluster page', () => {
  let clock: VirtualClock;
  let service: ConsoleService;
  beforeEach(async () => {
    clock = new VirtualClock();
    clock.wallOffsetMs = Date.UTC(2026, 10, 22, 11) - clock.monotonicMs();
    service = await startConsole({ clock, random: systemRandom });
    own('north', 'south');
  });
  afterEach(() => service.close());
  function own(...owners: readonly string[]): void {
    const { operator } = service;
    operator.slots = owners.map((name, slot) => slotView(slot, name, { logEnd: 9, checkpoint: 7 }));
    operator.members = ['north', 'south'].map((name) => memberView(name, owners.includes(name) ? 'alive' : 'dead'));
    operator.loads = [...new Set(owners)].map((name) => loadOf(name, { checksPerSecond: 40, p99Ms: 2 }));
  }
  const fallSilent = (): void => {
    service.operator.onSurvey = () => Promise.reject(new GrantdError('unavailable', 'No shard can be reached.'));
  };
  /** Without what only a browser sees. */
  async function read(path = '/console/cluster'): Promise<string> {
    const visitor = await new ConsoleVisitor(service.url).logIn(OPERATOR_TOKEN);
    const { status, text } = await visitor.get(path);
    assert.equal(status, 200);
    return text.replaceAll(/\s+/g, ' ');
  }

  it('refreshes in a few kilobytes with the most slots there can be, each owned by another shard than the next', async () => {
    const shards = Array.from({ length: 8 }, (_, index) => `shard-${index}`);
    own(...Array.from({ length: 4096 }, (_, slot) => shards[(slot * 2654435761) % 8] ?? ''));
    await clock.advance(10_000);
    const visitor = await new ConsoleVisitor(service.url).logIn(OPERATOR_TOKEN);
    const sizes = async (encoding: string): Promise<number> => {
      const { headers, text } = await visitor.get('/console/cluster/live', { 'Accept-Encoding': encoding });
      assert.equal(headers.get('content-encoding'), encoding.startsWith('gzip') ? 'gzip' : null);
      assert.equal(headers.get('vary'), 'Accept-Encoding');
      assert.match(text, /4,096 slots, 4096 of them serving/);
      return Number(headers.get('content-length'));
    };
    const [whole, compressed] = [await sizes('identity'), await sizes('gzip, br')];
    assert.ok(whole < 160_000, `${whole} bytes`);
    assert.ok(compressed < 24_000, `${compressed} bytes, compressed`);
    // What has a form in it has a secret too.
    const page = await visitor.get('/console/cluster', { 'Accept-Encoding': 'gzip' });
    assert.equal(page.headers.get('content-encoding'), null);
  });

  it('lists slots by number, owner and state, page by page, and says what it cannot read', async () => {
    own(...Array.from({ length: 200 }, (_, slot) => (slot % 2 === 0 ? 'north' : 'south')));
    service.operator.slots = service.operator.slots.map((view) =>
      view.slot === 7 ? { ...view, state: 'unreachable' } : view,
    );
    await clock.advance(10_000);
    const list = async (query: string): Promise<readonly number[]> => {
      const text = await read(`/console/cluster/slots?${query}`);
      return [...text.matchAll(/data-title="Slot" class="number" role="cell"><div class="cell">(\d+)</g)].map(
        ([, slot]) => Number(slot),
      );
    };
    assert.deepEqual(await list('slots=17'), [17]);
    assert.deepEqual(await list('slots=3-6&shard=south'), [3, 5]);
    assert.deepEqual(await list('state=unreachable'), [7]);
    assert.deepEqual((await list('shard=north&cursor=64')).slice(0, 2), [128, 130]);
    assert.equal((await list('')).length, 64);
    assert.deepEqual(await list('shard=gone'), []);
    assert.match(await read('/console/cluster/slots?shard=north'), /shard=north&amp;cursor=64|shard=north&cursor=64/);
    const visitor = await new ConsoleVisitor(service.url).logIn(OPERATOR_TOKEN);
    for (const slots of ['x', '9-3', '12345', '-1']) {
      const { status, text } = await visitor.get(`/console/cluster/slots?slots=${slots}`);
      assert.equal(status, 422, slots);
      assert.match(text, /id="slots-error"/);
    }
  });

  it('says that no shard answers, and goes on asking', async () => {
    fallSilent();
    clock.stall(5000);
    // The look at the start of the process found an empty cluster, which is not of now any more.
    const text = await read();
    assert.match(text, /No shard responds/);
    assert.match(text, /hx-trigger="every 2s/);
  });

  it('shows what was seen last, grey and with its age, while no shard answers', async () => {
    await clock.advance(10_000);
    fallSilent();
    await clock.advance(40_000);
    for (const path of ['/console/cluster', '/console/cluster/live']) {
      const text = await read(path);
      assert.match(text, /The figures below are <span data-age="40000">as of 40 seconds ago<\/span>/);
      assert.match(text, /<div class="outdated">.*<strong>2 \/ 2<\/strong>/);
    }
    service.operator.onSurvey = undefined;
    assert.doesNotMatch(await read(), /class="outdated"|as of/);
  });

  it('shows what a shard said last, grey and with its age, while that one does not respond', async () => {
    await clock.advance(10_000);
    service.operator.loads = [loadOf('north', { checksPerSecond: 41 })];
    await clock.advance(30_000);
    const text = await read();
    assert.match(text, /south.*no response, <span data-age="30000">as of 30 seconds ago<\/span>/);
    assert.match(text, /<span class="outdated">40<\/span>/);
    assert.match(text, /without 1 shard that does not respond/);
    assert.equal(text.match(/no response/g)?.length, 1, 'the other one does');
  });

  it('marks in words what is above its bound, and nothing that is at it', async () => {
    const show = async (p99Ms: number, lag: number): Promise<string> => {
      service.operator.loads = [loadOf('north', { p99Ms }), loadOf('south', { p99Ms: 1 })];
      service.operator.slots = [slotView(0, 'north', { logEnd: lag, checkpoint: 0 }), slotView(1, 'south')];
      await clock.advance(15_000);
      return read();
    };
    const within = await show(P99_MS_MAX, LAG_MAX);
    assert.match(within, /the limit is 100 ms/);
    assert.match(within, /never above 100 ms/);
    assert.doesNotMatch(within, /▲|class="over"|tile alarming/);
    const above = await show(5898.2, LAG_MAX + 1);
    assert.match(
      above,
      /▲ <\/span>5,898<span class="unit"> ms<\/span><\/strong><small>of the slowest shard: above the limit of 100 ms/,
    );
    assert.match(above, /▲ <\/span>10,001<\/strong><small>entries, in the slot with the largest lag: above 10,000/);
    assert.match(above, /class="over"><span aria-hidden="true">▲ <\/span>5,898<span class="unseen"> \(above 100\)/);
    assert.match(above, /aria-label="p99 of checks[^"]*at most 5,898 ms at 11:00:\d\d; above 100 ms for \d+ seconds/);
    assert.match(above, /class="plot-over" d="M/);
  });

  it('shows the readers of tenants, and names a tenant that has more work than its shard has time', async () => {
    const calm = await read();
    assert.doesNotMatch(calm, /id="readers"|waiting calls/);
    const reader = { epoch: 2, position: 1234, calls: 5678, readIndexes: 90, handedOver: 7, begun: 3 };
    service.operator.slots = [
      slotView(0, 'north', { readers: [{ tenantId: 'ten_a', shardName: 'south', ...reader }] }),
      slotView(1, 'south'),
    ];
    const crowded = (share: number) => [loadOf('north', { busiest: { tenantId: 'ten_a', share } }), loadOf('south')];
    service.operator.loads = crowded(CROWDED_SHARE_MIN - 0.01);
    await clock.advance(15_000);
    const served = await read();
    assert.match(served, /Readers.*ten_a.*south.*1,234.*5,678.*90.*7.*3/);
    assert.doesNotMatch(served, /waiting calls/);
    service.operator.loads = crowded(0.71);
    await clock.advance(15_000);
    assert.match(await read(), /north.* has more work than time: 71 % .*ten_a/);
  });

  it('has the bounds of the alerts', async () => {
    const alerts = readText('charts/grantd/templates/_alerts.tpl');
    const boundOf = (name: string): number => {
      const [, expression = ''] = alerts.split(`"name" "${name}"`);
      return Number(/> ([\d.]+)" /.exec(expression)?.[1]);
    };
    assert.equal(boundOf('GrantdChecksSlow') * 1000, P99_MS_MAX);
    assert.equal(boundOf('GrantdTenantCrowds'), CROWDED_SHARE_MIN);
    assert.equal(boundOf('GrantdWriteBehindLags'), LAG_MAX);
  });

  it('has moves and lost shards of the last hour, though nobody looked then', async () => {
    await clock.advance(10_000);
    own('north', 'north');
    await clock.advance(30 * MINUTE_MS);
    const text = await read();
    assert.match(
      text,
      /11:00:15 UTC<\/time>.{0,20}<span class="badge member-dead">lost<\/span> <strong><bdi class="foreign">south/,
    );
    assert.match(text, /11:00:15 UTC<\/time>.{0,20}<strong>1 slot<\/strong> from <bdi class="foreign">south/);
    assert.match(text, /<span class="badge member-dead">lost at <time [^>]*>11:00:15 UTC<\/time><\/span>/);
    for (const path of ['/console/cluster', '/console/cluster/past']) {
      assert.match(await read(path), /This console has been taking samples since .*11:00:00/);
    }
    await clock.advance(31 * MINUTE_MS);
    assert.doesNotMatch(await read(), /11:00:15|>lost/);
  });

  it('says after when something happened, where it could not look for a while', async () => {
    await clock.advance(10_000);
    fallSilent();
    await clock.advance(10 * MINUTE_MS);
    service.operator.onSurvey = undefined;
    own('north', 'north');
    await clock.advance(5000);
    assert.match(
      await read(),
      /11:10:15 UTC<\/time> <small>after <time [^>]*>11:00:10 UTC<\/time><\/small> <strong>1 slot/,
    );
  });

  it('is sampled for as long as the console runs, and no longer', async () => {
    const ended = await startConsole({ clock, random: systemRandom });
    await clock.advance(10_000);
    const { length } = ended.operator.surveys;
    assert.equal(length, 3);
    await ended.close();
    await clock.advance(MINUTE_MS);
    assert.equal(ended.operator.surveys.length, length);
  });
});
