// The change feed: its pages, put together, are the part of the audit log that tenants may follow, from any place, over
// months, failovers and the bounds of a page; a call at the end waits for the next change, and not for longer than its
// key, its tenant and its owner live.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FeedFilter, feedMatcher, parseFeedContent } from '../../../../src/core/change-feed.ts';
import { GrantdError } from '../../../../src/core/errors.ts';
import { createCursor } from '../../../../src/core/text/cursors.ts';
import { NO_RULES, type RuleSet } from '../../../../src/rules/rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { reportShard } from '../../../../src/shard/observers.ts';
import type { FeedPage, FeedQuery, FeedRecord, PageQuery } from '../../../../src/shard/shard.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { type OpenSlot, openSlot, RELEASE, reportedParts, SECRETS, settled, tuple, wholeAuditLog } from '../tools.ts';

const DAY_MS = 24 * 3_600_000;

const read = (slot: OpenSlot, handle: number, query: Partial<FeedQuery> = {}): Promise<FeedPage> =>
  slot.connection.readChanges(handle, { limit: 100, waitMs: 0, ...query });

/** Everything from there to the end, page by page; and the last page. */
async function readToEnd(slot: OpenSlot, handle: number, query: Partial<FeedQuery> = {}) {
  const items: FeedRecord[] = [];
  let page = await read(slot, handle, query);
  while (true) {
    items.push(...page.items);
    if (page.atEnd) return { items, last: page };
    page = await read(slot, handle, { ...query, sinceMs: undefined, cursor: page.nextCursor });
  }
}

/** `grant.created doc:1`: of each change its action and what tells it from others. */
const told = (rows: readonly { readonly change: string }[]): readonly string[] =>
  rows.map(({ change }) => JSON.parse(change)).map(({ action, object, name }) => `${action} ${object ?? name ?? ''}`);

/** What the feed has to tell, by the audit log. */
async function expected(slot: OpenSlot, tenantId: Parameters<typeof wholeAuditLog>[1], filter: FeedFilter = {}) {
  const fits = feedMatcher(filter) ?? (() => true);
  return (await wholeAuditLog(slot, tenantId)).filter(({ change }) => {
    const content = parseFeedContent(change);
    return content !== undefined && fits({ change: content });
  });
}

const refused = (code: string) => (error: unknown) => error instanceof GrantdError && error.code === code;

test('the feed is the audit log without keys, plans and tenants, over the months and page by page', async () => {
  let wall = Date.UTC(2026, 10, 30, 23, 59, 59);
  const { slot, tenantId, handle } = await openSlot({ wallMs: () => wall });
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  await slot.createKey(handle, tenantId);
  wall = Date.UTC(2026, 11, 15);
  await slot.grant(handle, { ...tuple('user:a', 'doc:2'), relation: 'owner' });
  wall = Date.UTC(2027, 2, 1);
  await slot.revoke(handle, tuple('user:a', 'doc:1'));
  // Set back: the log's time stands still.
  wall = Date.UTC(2027, 1, 27);
  await slot.grant(handle, tuple('user:a', 'team:3'));
  const all = [
    'namespace.created user',
    'namespace.created doc',
    'grant.created doc:1',
    'grant.created doc:2',
    'grant.revoked doc:1',
    'namespace.created team',
    'grant.created team:3',
  ];
  for (const limit of [1, 2, 3, 7, 100]) {
    const { items } = await readToEnd(slot, handle, { limit });
    assert.deepEqual(told(items), all, `limit ${limit}`);
    // Each cursor goes on right after its change.
    for (const [index, { cursor }] of items.entries()) {
      const rest = await readToEnd(slot, handle, { limit, cursor });
      assert.deepEqual(told(rest.items), all.slice(index + 1));
    }
  }
  assert.deepEqual(
    (await readToEnd(slot, handle)).items.map(({ cursor: _, ...row }) => row),
    await expected(slot, tenantId),
  );
  const filtered = async (filter: FeedFilter) => told((await readToEnd(slot, handle, { limit: 1, ...filter })).items);
  assert.deepEqual(await filtered({ namespaces: ['team'] }), all.slice(5));
  assert.deepEqual(await filtered({ relations: ['owner'] }), ['grant.created doc:2']);
  assert.deepEqual(await filtered({ actions: ['grant.revoked'] }), ['grant.revoked doc:1']);
});

test('a time begins with the first change made then; a time to come, and now, tell only what comes', async () => {
  let wall = Date.UTC(2026, 10, 29);
  const { slot, handle } = await openSlot({ wallMs: () => wall });
  for (const day of [1, 2, 3]) {
    wall = Date.UTC(2026, 11, day);
    await slot.grant(handle, tuple('user:a', `doc:${day}`));
  }
  const since = async (sinceMs: number) =>
    told((await readToEnd(slot, handle, { sinceMs, limit: 1, actions: ['grant.created'] })).items);
  assert.deepEqual(await since(Date.UTC(2026, 11, 2)), ['grant.created doc:2', 'grant.created doc:3']);
  assert.deepEqual(await since(Date.UTC(2026, 11, 2) + 1), ['grant.created doc:3']);
  assert.equal((await since(0)).length, 3);
  for (const query of [{ fromNow: true }, { sinceMs: Date.UTC(2027, 0, 1) }, { sinceMs: Date.UTC(2026, 11, 4) }]) {
    const now = await read(slot, handle, query);
    assert.deepEqual([now.items, now.atEnd], [[], true]);
    await slot.grant(handle, tuple('user:b', `doc:${now.next.seq}`));
    const next = await read(slot, handle, { cursor: now.nextCursor });
    assert.deepEqual(told(next.items), [`grant.created doc:${now.next.seq}`]);
  }
});

test('a call at the end waits for a change that fits, and reads nothing from the store for it', async () => {
  const { slot, handle } = await openSlot();
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  const { nextCursor: cursor } = (await readToEnd(slot, handle)).last;
  const waiting = read(slot, handle, { cursor, waitMs: 5000, relations: ['owner'] });
  const reads = slot.faults.calls('listAuditLog');
  await slot.grant(handle, tuple('user:a', 'doc:2'));
  assert.equal(await settled(waiting), false);
  await slot.grant(handle, { ...tuple('user:a', 'doc:3'), relation: 'owner' });
  const page = await waiting;
  assert.deepEqual(told(page.items), ['grant.created doc:3']);
  assert.equal(page.atEnd, true);
  // What came while nobody waited, too.
  for (const doc of [4, 5]) await slot.grant(handle, tuple('user:a', `doc:${doc}`));
  const next = await read(slot, handle, { cursor: page.nextCursor, waitMs: 5000, limit: 1 });
  assert.deepEqual([told(next.items), next.atEnd], [['grant.created doc:4'], false]);
  const last = await read(slot, handle, { cursor: next.nextCursor, waitMs: 5000, limit: 1 });
  assert.deepEqual(told(last.items), ['grant.created doc:5']);
  assert.equal(slot.faults.calls('listAuditLog'), reads);
});

test('a call that is about to wait is told at once what was committed while it read the store', async () => {
  const { slot, handle } = await openSlot();
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  slot.faults.turn('hold', ['writeState']);
  await slot.grant(handle, tuple('user:a', 'doc:2'));
  // Nothing but that change would end the wait.
  const waiting = read(slot, handle, { waitMs: 1e9, relations: ['owner'] });
  await slot.grant(handle, { ...tuple('user:a', 'doc:3'), relation: 'owner' });
  assert.equal(await settled(waiting), false);
  slot.faults.restore(['writeState']);
  assert.deepEqual(told((await waiting).items), ['grant.created doc:3']);
});

test('a wait without a change ends with an empty page that is as far as the log', async () => {
  const { slot, handle } = await openSlot();
  const { nextCursor: cursor } = (await readToEnd(slot, handle)).last;
  const waiting = read(slot, handle, { cursor, waitMs: 1000, actions: ['grant.revoked'] });
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  const page = await waiting;
  assert.deepEqual([page.items, page.atEnd, page.next.seq], [[], true, slot.tenure.lastSeq + 1]);
});

test('a wait ends with its key, its tenant, its owner and its connection', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const follow = async (expiresAtMs?: number) => {
    const key = await slot.createKey(await slot.handle(tenantId), tenantId, expiresAtMs);
    const { handle: number } = await slot.front.authenticate(key);
    const { nextCursor: cursor } = await slot.front.readChanges(number, { limit: 1, waitMs: 0, fromNow: true });
    // Nothing but what is tested would end the wait.
    const answer = slot.front.readChanges(number, { limit: 10, waitMs: 1e9, cursor });
    answer.catch(() => {});
    return { key, answer };
  };
  const kind = (answer: Promise<unknown>) =>
    answer.then(
      () => 'answered',
      (error) => error.kind ?? error.code,
    );
  const revoked = await follow();
  const other = await follow();
  await slot.connection.revokeKey(handle, slot.attempt(), revoked.key.keyId);
  assert.equal(await kind(revoked.answer), 'handle-unknown');
  assert.equal(await settled(other.answer), false, 'another key goes on');
  const expiring = await follow(slot.clock.wallMs() + 50);
  // The front presents the key again, and hears that it has ended once the log says so.
  assert.equal(await kind(expiring.answer), 'handle-unknown');
  await slot.update({ tenantId, state: 'suspended' });
  assert.equal(await kind(other.answer), 'handle-unknown');
  await slot.update({ tenantId, state: 'active' });
  const last = await follow();
  await slot.tenure.release(RELEASE);
  assert.equal(await kind(last.answer), 'not-serving');
});

test('calls that wait are answered when their connection is to end, and none waits after that', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const key = await slot.createKey(handle, tenantId);
  const { handle: number } = await slot.front.authenticate(key);
  const waiting = slot.front.readChanges(number, { limit: 1, waitMs: 5000, fromNow: true });
  assert.equal(await settled(waiting), false);
  slot.front.endWaits();
  assert.deepEqual((await waiting).items, []);
  assert.deepEqual((await slot.front.readChanges(number, { limit: 1, waitMs: 5000, fromNow: true })).items, []);
});

test('the metrics say who is followed, what is kept for that, and how many calls wait', async () => {
  const { slot, handle } = await openSlot();
  const metrics = createMetrics();
  metrics.onRender(() => reportShard(metrics, reportedParts(slot)));
  const shown = async (): Promise<readonly number[]> => {
    const text = await metrics.render();
    return ['recent_changes_tenants', 'recent_changes_bytes', 'change_calls_waiting'].map((name) =>
      Number(new RegExp(`^grantd_${name} (.+)$`, 'm').exec(text)?.[1]),
    );
  };
  assert.deepEqual(await shown(), [0, 0, 0]);
  const waiting = read(slot, handle, { fromNow: true, waitMs: 5000 });
  assert.equal(await settled(waiting), false);
  const [tenants, empty = 0, calls] = await shown();
  assert.deepEqual([tenants, calls], [1, 1]);
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  assert.equal((await waiting).items.length, 3);
  const [, bytes = 0, none] = await shown();
  assert.ok(bytes > empty + 500, `${bytes} of ${empty}`);
  assert.equal(none, 0);
});

test('a call is refused under a lease that has run out while it waited', async () => {
  const { slot, handle } = await openSlot();
  const waiting = read(slot, handle, { fromNow: true, waitMs: 5000 });
  assert.equal(await settled(waiting), false);
  slot.leaseValid = false;
  slot.connection.endWaits();
  await assert.rejects(waiting, { kind: 'not-serving' });
  await assert.rejects(read(slot, handle), { kind: 'not-serving' });
});

test('the grants of all pages, and what the feed tells from the cursor of the first one, are the grants', async () => {
  const { slot, handle } = await openSlot({ pageLimits: { rowsMax: 4 } });
  for (let doc = 0; doc < 12; doc += 1) await slot.grant(handle, tuple('user:a', `doc:${doc}`));
  for (const list of [
    (query: PageQuery) => slot.operator.exportGrants(handle, query),
    (query: PageQuery) =>
      slot.connection.listGrants(handle, { of: { subject: 'user:a' }, relation: undefined, ...query }),
  ]) {
    const held = new Set<string>();
    let cursor: string | undefined;
    let start: string | undefined;
    let step = 0;
    do {
      const page = await list({ limit: 3, cursor });
      start ??= page.feedCursor;
      for (const { object } of page.items) held.add(object);
      // Behind the listing and before it.
      await slot.revoke(handle, tuple('user:a', `doc:${step}`));
      await slot.grant(handle, tuple('user:a', `doc:1${step}`));
      step += 1;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    for (const text of told((await readToEnd(slot, handle, { cursor: start })).items)) {
      const [action, object = ''] = text.split(' ');
      if (action === 'grant.created') held.add(object);
      else held.delete(object);
    }
    const grants = await slot.list(handle, 'user:a');
    assert.deepEqual([...held].toSorted(), grants.toSorted());
  }
});

test('a cursor is refused if it is of another tenant, forged or ahead of the log', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const other = await slot.handle(await slot.createTenant());
  const { nextCursor } = await read(slot, other);
  await assert.rejects(read(slot, handle, { cursor: nextCursor }), refused('invalid-cursor'));
  await assert.rejects(read(slot, handle, { cursor: 'x' }), refused('invalid-cursor'));
  const signed = (position: unknown) => createCursor(SECRETS, ['changes', tenantId], JSON.stringify(position));
  for (const position of [[], ['x', '1', '1'], ['1', '1.5', '1'], {}, ['9999', '-1', '1']]) {
    await assert.rejects(read(slot, handle, { cursor: signed(position) }), refused('invalid-cursor'));
  }
});

test('what is no longer kept is refused with the earliest cursor; who is at the end misses nothing', async () => {
  let wall = Date.UTC(2025, 0, 10);
  const { slot, handle, tenantId } = await openSlot({ wallMs: () => wall });
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  const first = await read(slot, handle, { limit: 1 });
  const { last } = await readToEnd(slot, handle);
  wall += 300 * DAY_MS;
  await slot.grant(handle, tuple('user:a', 'doc:2'));
  assert.equal((await readToEnd(slot, handle, { cursor: first.nextCursor })).items.length, 3);
  // The slot stood still, and the reader came back in between.
  const idle = await readToEnd(slot, handle, { cursor: last.nextCursor });
  wall += 99.5 * DAY_MS;
  const recent = await read(slot, handle, { cursor: idle.last.nextCursor });
  const tooOld = async (query: Partial<FeedQuery>): Promise<string> => {
    const error = await read(slot, handle, query).then(
      () => assert.fail('a cursor that is too old was accepted'),
      (thrown) => thrown,
    );
    assert.ok(refused('cursor-too-old')(error), String(error));
    return String(error.details.earliest);
  };
  const earliest = await tooOld({ cursor: first.nextCursor });
  await tooOld({ cursor: last.nextCursor });
  await tooOld({ sinceMs: Date.UTC(2025, 0, 10) });
  for (const query of [{ cursor: earliest }, {}]) {
    assert.deepEqual(told((await readToEnd(slot, handle, query)).items), ['grant.created doc:2']);
  }
  wall += 350 * DAY_MS;
  assert.equal((await read(slot, handle, { cursor: recent.nextCursor })).atEnd, true);
  const young = await slot.handle(await slot.createTenant());
  assert.equal((await read(slot, young, { sinceMs: 0 })).atEnd, true, 'everything of a young tenant is kept');
  assert.ok((await expected(slot, tenantId)).length > 0);
});

test('a table that keeps less refuses earlier, and a bound that is not known is not guessed', async () => {
  let wall = Date.UTC(2025, 0, 10);
  let aheadMs = 0;
  const { memory, slot, handle } = await openSlot({ wallMs: () => wall, aheadMs: () => aheadMs });
  memory.auditLogKeptMs = 30 * DAY_MS;
  const { nextCursor } = await read(slot, handle);
  wall += 28.9 * DAY_MS;
  await read(slot, handle, { cursor: nextCursor });
  wall += 0.2 * DAY_MS;
  await assert.rejects(read(slot, handle, { cursor: nextCursor }), refused('cursor-too-old'));
  // The table is read again after a minute.
  memory.auditLogKeptMs = 3_600_000;
  aheadMs += 60_000;
  const next = await read(slot, handle);
  wall += 50 * 60_000;
  await read(slot, handle, { cursor: next.nextCursor });
  wall += 5 * 60_000;
  await assert.rejects(read(slot, handle, { cursor: next.nextCursor }), refused('cursor-too-old'));
  slot.faults.turn('fail-before', ['readAuditLogKeptMs']);
  assert.equal((await read(slot, handle)).atEnd, true);
  aheadMs += 60_000;
  await assert.rejects(read(slot, handle), { kind: 'not-serving' });
});

test('a page ends early if its changes are long, and nothing is lost', async () => {
  const { slot, handle } = await openSlot();
  const ruleSet = (name: string): RuleSet => ({
    ...NO_RULES,
    rules: Array.from({ length: 200 }, (_, index) => {
      const namespace = `n${index}`.padEnd(64, 'x');
      return { namespace, name: name.padEnd(64, 'y'), anyOf: [{ name: 'viewer', from: 'parent' as const }] };
    }),
    groups: false,
    public: [],
  });
  for (let write = 0; write < 16; write += 1) {
    const request = { rules: RulesText.of(ruleSet(`a${write}`)), ifMatch: undefined };
    await slot.connection.writeRules(handle, slot.attempt(), request);
  }
  const all = await readToEnd(slot, handle, { limit: 1000 });
  assert.equal(all.items.length, 16);
  for (const waitMs of [0, 1]) {
    const { nextCursor } = await read(slot, handle, { limit: 1, waitMs });
    const page = await read(slot, handle, { cursor: nextCursor, waitMs, limit: 1000 });
    assert.ok(page.items.length < 15 && !page.atEnd);
    assert.deepEqual(page.items.at(-1)?.cursor, page.nextCursor);
  }
});
