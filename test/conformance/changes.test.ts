// The change feed as clients see it: pages, streams, where they begin, and how they end.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { type Answer, assertProblem, call } from '../kit/http-client.ts';
import { type HttpService, startHttpService } from '../kit/http-service.ts';
import { waitFor } from '../kit/wait-for.ts';
import { ChangeReader, NDJSON, SSE, type StreamOptions, type ToldChange } from './support/change-streams.ts';

/** Of a plan of this file. */
const STREAMS_MAX = 3;
const PLANS = JSON.stringify({ few: { requests: null, window_seconds: 1, streams_max: STREAMS_MAX } });
/** A client that takes nothing is cut off after this time, and one more for each tick of the clock. */
const STALL_MS = 31_000;
/** More than the buffers of both ends hold. */
const FLOOD_WRITES = 60;

let service: HttpService;
const readers = new Set<ChangeReader>();

before(async () => {
  service = await startHttpService({ GRANTD_PLANS: PLANS });
});
after(async () => {
  for (const reader of readers) reader.close();
  await service.stop();
});

const open = async (options: StreamOptions): Promise<ChangeReader> => {
  const reader = await ChangeReader.open(service, options);
  readers.add(reader);
  return reader;
};

const tuple = (id: number | string, namespace = 'document') => ({
  subject: `user:${id}`,
  relation: 'viewer',
  object: `${namespace}:${id}`,
});

async function grant(key: string, id: number | string, more: object = {}, namespace?: string): Promise<void> {
  const body = { ...tuple(id, namespace), ...more };
  const { status, text } = await service.send({ method: 'POST', path: '/v1/grants', body, key });
  assert.ok(status === 201 || status === 200, text);
}

interface Page {
  readonly changes: readonly ToldChange[];
  readonly next_cursor: string;
  readonly seq: number;
}

const read = (key: string, query = '', headers: Record<string, string> = {}): Promise<Answer> =>
  service.send({ method: 'GET', path: `/v1/changes${query}`, key, headers });

async function readPage(key: string, query = ''): Promise<Page> {
  const answer = await read(key, query);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers['content-type'], 'application/json');
  return answer.json as Page;
}

const readMetrics = async (): Promise<string> => (await call(service.opsUrl, { method: 'GET', path: '/metrics' })).text;

const objectsOf = (changes: readonly ToldChange[]): readonly (string | undefined)[] =>
  changes.map((change) => change.grant?.object);

const positionsOf = (changes: readonly ToldChange[]): readonly string[] =>
  changes.map(({ seq, index }) => `${String(seq).padStart(12, '0')} ${String(index).padStart(6, '0')}`);

describe('a page of the change feed', () => {
  it('tells every kind of change once, in order, with who made it', async () => {
    const { key } = await service.createTenant();
    const expires_at = new Date(Date.now() + 1e9).toISOString();
    await grant(key, 1);
    await grant(key, 1, { expires_at });
    await service.send({ method: 'POST', path: '/v1/namespaces', body: { name: 'folder' }, key });
    await service.send({ method: 'DELETE', path: '/v1/grants', body: tuple(1), key });
    const rules = { rules: [], groups: true, public: [] };
    const written = await service.send({ method: 'PUT', path: '/v1/rules', body: rules, key });
    assert.equal(written.status, 200, written.text);
    const { changes } = await readPage(key);
    const actions = ['grant.created', 'grant.updated', 'namespace.created', 'grant.revoked', 'rules.updated'];
    const told = changes.filter(({ namespace }) => namespace === undefined || namespace.name === 'folder');
    assert.deepEqual(
      told.map(({ action }) => action),
      actions,
    );
    assert.deepEqual(positionsOf(changes), [...positionsOf(changes)].sort());
    assert.ok(
      changes.every(
        ({ actor, request_id: id, at }) => actor.startsWith('key_') && id.startsWith('req_') && at.endsWith('Z'),
      ),
    );
    assert.deepEqual([told[0]?.grant?.expires_at, told[1]?.grant?.expires_at], [null, expires_at]);
    assert.equal(told[0]?.grant?.grant_id, told[3]?.grant?.grant_id);
    assert.deepEqual(told[4]?.rules, rules);
  });

  it('shows rules only to a key that may read them, as a page and as a stream', async () => {
    const { key } = await service.createTenant();
    const rules = { rules: [], groups: true, public: ['secret'] };
    await service.send({ method: 'PUT', path: '/v1/rules', body: rules, key });
    await service.send({ method: 'PUT', path: '/v1/rules', body: { rules: [] }, key });
    const scopes = ['check:read', 'grant:write'];
    const made = await service.send({ method: 'POST', path: '/v1/keys', body: { scopes }, key });
    const { key: reader } = made.json as { key: string };
    for (const query of ['?wait=0', '?action=rules.updated', '?namespace=document']) {
      const { changes } = await readPage(reader, query);
      assert.deepEqual(
        changes.map(({ action }) => action),
        ['rules.updated', 'rules.updated'],
      );
      assert.doesNotMatch(JSON.stringify(changes), /"rules":|former|secret/);
      const { changes: whole } = await readPage(key, query);
      assert.deepEqual(whole[0]?.rules, rules);
      assert.deepEqual(
        whole.map(({ seq, index, at }) => [seq, index, at]),
        changes.map(({ seq, index, at }) => [seq, index, at]),
      );
    }
    for (const accept of [SSE, NDJSON]) {
      const rulesOf = async (by: string) => {
        const stream = await open({ key: by, accept, query: '?action=rules.updated' });
        await stream.until('both changes', () => stream.changes.length === 2);
        return stream;
      };
      assert.doesNotMatch((await rulesOf(reader)).text, /"rules":|former|secret/);
      assert.deepEqual((await rulesOf(key)).changes[0]?.rules, rules);
    }
    const forbidden = await service.send({ method: 'GET', path: '/v1/rules', key: reader });
    assertProblem(forbidden, 403, 'insufficient-scope', service.errorsBase);
  });

  it('leads on from page to page, and always has a cursor', async () => {
    const { key } = await service.createTenant();
    const empty = await readPage(key);
    assert.equal(empty.changes.length, 0);
    for (let id = 1; id <= 5; id += 1) await grant(key, id);
    const found: ToldChange[] = [];
    let cursor = empty.next_cursor;
    for (let page = 0; page < 10; page += 1) {
      const { changes, next_cursor: next } = await readPage(key, `?limit=2&action=grant.created&cursor=${cursor}`);
      assert.ok(changes.length <= 2);
      found.push(...changes);
      cursor = next;
    }
    assert.deepEqual(
      objectsOf(found),
      [1, 2, 3, 4, 5].map((id) => `document:${id}`),
    );
    await grant(key, 6);
    const { changes } = await readPage(key, `?cursor=${cursor}`);
    assert.deepEqual(objectsOf(changes), ['document:6']);
  });

  it('begins at a time, and passes a filter', async () => {
    const { key } = await service.createTenant();
    await grant(key, 1);
    await grant(key, 2, {}, 'folder');
    const [first] = (await readPage(key, '?action=grant.created')).changes;
    assert.ok(first !== undefined);
    const since = async (text: string): Promise<number> =>
      (await readPage(key, `?since=${text}&action=grant.created`)).changes.length;
    assert.equal(await since(first.at), 2);
    assert.equal(await since('2020-01-01T00:00:00Z'), 2);
    assert.equal(await since(new Date(Date.now() + 3_600_000).toISOString()), 0);
    assert.equal(await since('now'), 0);
    assert.deepEqual(objectsOf((await readPage(key, '?namespace=folder&action=grant.created')).changes), ['folder:2']);
    assert.deepEqual((await readPage(key, '?relation=owner')).changes, []);
    assert.deepEqual((await readPage(key, '?action=grant.revoked,grant.expired')).changes, []);
  });

  it('leads on from a listing of grants: with all changes since then, the copy is complete', async () => {
    const { key } = await service.createTenant();
    for (let id = 1; id <= 5; id += 1) await grant(key, id, {}, 'folder');
    for (let id = 1; id <= 5; id += 1) await grant(key, '1', {}, `folder${id}`);
    const copy = new Set<string>();
    let path = '/v1/grants?subject=user:1&limit=2';
    let start = '';
    while (path !== '') {
      const answer = await service.send({ method: 'GET', path, key });
      const { grants, next_cursor: next } = answer.json as { grants: { object: string }[]; next_cursor: string | null };
      if (start === '') start = String(answer.headers['x-service-cursor']);
      for (const { object } of grants) copy.add(object);
      path = next === null ? '' : `/v1/grants?subject=user:1&limit=2&cursor=${next}`;
      // Behind the place of the listing, and before it.
      await grant(key, '1', {}, `a${copy.size}`);
      await service.send({ method: 'DELETE', path: '/v1/grants', body: tuple('1', 'folder5'), key });
    }
    for (const { action, grant: changed } of (await readPage(key, `?cursor=${start}`)).changes) {
      if (changed?.subject !== 'user:1') continue;
      if (action === 'grant.revoked') copy.delete(changed.object);
      else copy.add(changed.object);
    }
    const { json } = await service.send({ method: 'GET', path: '/v1/grants?subject=user:1&limit=1000', key });
    const { grants } = json as { grants: { object: string }[] };
    assert.deepEqual([...copy].sort(), grants.map(({ object }) => object).sort());
  });

  it('waits for a change, and no longer than it is to', async () => {
    const { key } = await service.createTenant();
    const { next_cursor: cursor } = await readPage(key);
    const waiting = readPage(key, `?cursor=${cursor}&wait=30&namespace=folder`);
    await grant(key, 1);
    await grant(key, 2, {}, 'folder');
    const { changes, next_cursor: next } = await waiting;
    assert.ok(changes.length >= 1, 'it has what fits');
    const startedMs = performance.now();
    const empty = await readPage(key, `?cursor=${next}&wait=1&namespace=other`);
    assert.ok(performance.now() - startedMs >= 990);
    assert.deepEqual(empty.changes, []);
    await grant(key, 3, {}, 'other');
    assert.deepEqual(
      objectsOf((await readPage(key, `?cursor=${empty.next_cursor}&namespace=other&action=grant.created`)).changes),
      ['other:3'],
    );
  });

  it('is refused for a cursor that is not one of this tenant', async () => {
    const [{ key }, other] = [await service.createTenant(), await service.createTenant()];
    const { next_cursor: foreign } = await readPage(other.key);
    for (const cursor of [
      foreign,
      'x',
      `${foreign.slice(0, -1)}${foreign.endsWith('A') ? 'Q' : 'A'}`,
      'A'.repeat(9000),
    ]) {
      for (const accept of ['application/json', SSE, NDJSON]) {
        assertProblem(await read(key, `?cursor=${cursor}`, { accept }), 400, 'invalid-cursor', service.errorsBase);
        const headers = { accept, 'last-event-id': cursor };
        assertProblem(await read(key, '', headers), 400, 'invalid-cursor', service.errorsBase);
      }
    }
  });

  it('is refused for what its query may not say, and in another form', async () => {
    const { key } = await service.createTenant();
    for (const query of [
      '?wait=31',
      '?wait=x',
      '?limit=0',
      '?limit=1001',
      '?action=grant.made',
      '?since=x',
      '?since=now&cursor=x',
      '?subject=user:1',
      '?namespace=document,',
      '?on=document',
      '?on=document:viewer,x%20y:viewer',
      '?on=document:viewer&namespace=document',
      '?on=document:viewer&relation=viewer',
      `?namespace=${Array.from({ length: 201 }, (_, index) => `n${index}`).join(',')}`,
      '?checkpoints=batch',
      '?checkpoints=all',
    ]) {
      assertProblem(await read(key, query), 400, 'invalid-request', service.errorsBase);
    }
    for (const query of ['?relation=reader', '?relation=viewer,reader', '?on=document:viewer,document:reader']) {
      const answer = await read(key, query);
      assertProblem(answer, 400, 'invalid-relation', service.errorsBase);
      assert.match(answer.text, /reader/);
    }
    assertProblem(await read(key, '', { accept: 'text/html' }), 406, 'not-acceptable', service.errorsBase);
    const { tenantId } = await service.createTenant();
    const writer = await service.createKey(tenantId, { scopes: ['grant:write'] });
    assertProblem(await read(writer.key), 403, 'insufficient-scope', service.errorsBase);
  });
});

describe('the seq of the change feed', { concurrency: true }, () => {
  const pairs = ['document:viewer', 'folder:viewer'];
  const filter = `on=${pairs.join(',')}`;
  const subjects = ['1', '2', '3'];

  /** Entries with several changes each, of which some pass. */
  async function write(key: string): Promise<void> {
    for (const id of subjects) {
      const grants = ['document', 'folder', 'team'].flatMap((namespace) =>
        ['viewer', 'owner'].map((relation) => ({ ...tuple(id, namespace), relation })),
      );
      const { status, text } = await service.send({ method: 'POST', path: '/v1/grants/bulk', body: { grants }, key });
      assert.equal(status, 200, text);
      await service.send({ method: 'POST', path: '/v1/grants/revoke', body: { object: `folder:${id}` }, key });
    }
  }

  /** Nothing of the entries up to `seq` is after the first `count` changes. */
  const assertWhole = (all: readonly ToldChange[], count: number, seq: number): void =>
    assert.deepEqual(positionsOf(all.slice(count).filter((change) => change.seq <= seq)), []);

  it('is of the last entry of which a page, or one before, has everything, and of the end at the end', async () => {
    const { key } = await service.createTenant();
    await write(key);
    const { changes: all, seq: end } = await readPage(key, `?limit=1000&${filter}`);
    assert.deepEqual([...new Set(all.map(({ grant: each }) => each?.object))].sort(), [
      ...subjects.map((id) => `document:${id}`),
      ...subjects.map((id) => `folder:${id}`),
    ]);
    assert.ok(end >= (all.at(-1)?.seq ?? Number.POSITIVE_INFINITY));
    for (const [limit, wait] of [
      [1, 0],
      [2, 30],
      [4, 0],
      [7, 30],
    ]) {
      let [count, cursor] = [0, ''];
      while (count < all.length) {
        const page = await readPage(key, `?limit=${limit}&wait=${wait}&${filter}${cursor}`);
        count += page.changes.length;
        cursor = `&cursor=${page.next_cursor}`;
        assertWhole(all, count, page.seq);
      }
      assert.ok((await readPage(key, `?${filter}${cursor}`)).seq >= end);
    }
  });

  for (const accept of [SSE, NDJSON]) {
    it(`is at every checkpoint of ${accept}, and after each batch if asked for`, async () => {
      const { key } = await service.createTenant();
      const stream = await open({ key, accept, query: `?since=now&checkpoints=batch&${filter}` });
      await write(key);
      const { changes: all } = await readPage(key, `?limit=1000&${filter}`);
      const isWhole = (): boolean =>
        stream.changes.length === all.length && stream.events.at(-1)?.type === 'checkpoint';
      await stream.until('everything, and its checkpoint', isWhole);
      let count = 0;
      let last = 0;
      for (const { type, data } of stream.events) {
        if (type === 'change') count += 1;
        else last = (data as { readonly seq: number }).seq;
        assertWhole(all, count, last);
      }
      assert.ok(last >= (all.at(-1)?.seq ?? Number.POSITIVE_INFINITY));
    });
  }
});

describe('a snapshot of a part of the grants', () => {
  const on = 'on=document:viewer,folder:owner';
  const rowOf = (each: { subject: string; relation: string; object: string }): string =>
    `${each.subject} ${each.relation} ${each.object}`;

  it('with the feed from its first cursor is exact from the greatest seq of its pages on', async () => {
    const { key } = await service.createTenant();
    const expires_at = new Date(Date.now() + 1e9).toISOString();
    for (let id = 1; id <= 9; id += 1) {
      await grant(key, id, id === 4 ? { expires_at } : {});
      await grant(key, id, { relation: 'owner' }, 'folder');
      await grant(key, id, { relation: 'owner' });
    }
    const rows = new Set<string>();
    const found: { expires_at: string | null; grant_id: string }[] = [];
    let [start, next, greatest, pages]: [string, string | null, number, number] = ['', '', 0, 0];
    while (next !== null) {
      const path: string = `/v1/grants?${on}&limit=2${next === '' ? '' : `&cursor=${next}`}`;
      const answer: Answer = await service.send({ method: 'GET', path, key });
      assert.equal(answer.status, 200, answer.text);
      const page = answer.json as {
        grants: { subject: string; relation: string; object: string; expires_at: string | null; grant_id: string }[];
        next_cursor: string | null;
        seq: number;
      };
      if (start === '') start = String(answer.headers['x-service-cursor']);
      for (const each of page.grants) rows.add(rowOf(each));
      found.push(...page.grants);
      greatest = Math.max(greatest, page.seq);
      next = page.next_cursor;
      pages += 1;
      // Behind the place of the listing, and before it.
      await service.send({ method: 'DELETE', path: '/v1/grants', body: tuple(pages), key });
      await grant(key, `1${pages}`);
    }
    assert.ok(found.some((each) => each.expires_at === expires_at && each.grant_id.startsWith('grt_')));
    const feed = await readPage(key, `?${on}&cursor=${start}&limit=1000`);
    assert.ok(feed.seq >= greatest);
    for (const { action, grant: changed } of feed.changes) {
      if (changed === undefined) continue;
      if (action === 'grant.revoked') rows.delete(rowOf({ relation: 'viewer', ...changed }));
      else rows.add(rowOf({ relation: 'viewer', ...changed }));
    }
    const now = await service.send({ method: 'GET', path: `/v1/grants?${on}&limit=1000`, key });
    assert.deepEqual([...rows].sort(), (now.json as { grants: never[] }).grants.map(rowOf).sort());
  });

  it('is refused beside a subject, an object or a relation, and for what is no pair', async () => {
    const { key } = await service.createTenant();
    for (const query of [`${on}&subject=user:1`, `${on}&object=document:1`, `${on}&relation=viewer`, 'on=document']) {
      const answer = await service.send({ method: 'GET', path: `/v1/grants?${query}`, key });
      assertProblem(answer, 400, 'invalid-request', service.errorsBase);
    }
    const undeclared = await service.send({ method: 'GET', path: '/v1/grants?on=document:reader', key });
    assertProblem(undeclared, 400, 'invalid-relation', service.errorsBase);
    const listing = await service.send({ method: 'GET', path: `/v1/grants?${on}&cursor=x`, key });
    assertProblem(listing, 400, 'invalid-cursor', service.errorsBase);
    const other = await service.send({ method: 'GET', path: '/v1/grants?subject=user:1', key });
    assert.equal('seq' in (other.json as object), false);
  });
});

describe('a stream of changes', { concurrency: true }, () => {
  for (const accept of [SSE, NDJSON, 'application/jsonl']) {
    it(`as ${accept} tells what is there and what comes`, async () => {
      const { key } = await service.createTenant();
      await grant(key, 1);
      const reader = await open({ key, accept, query: '?action=grant.created' });
      assert.deepEqual([reader.status, reader.headers['content-type']], [200, accept]);
      await reader.untilChanges(1);
      for (let id = 2; id <= 20; id += 1) await grant(key, id);
      await reader.untilChanges(20);
      assert.deepEqual(
        objectsOf(reader.changes),
        Array.from({ length: 20 }, (_, index) => `document:${index + 1}`),
      );
    });
  }

  it('goes on after an interruption, from its last event', async () => {
    const { key } = await service.createTenant();
    const query = '?action=grant.created&since=2020-01-01T00:00:00Z';
    const found: ToldChange[] = [];
    let lastCursor: string | undefined;
    let written = 0;
    while (found.length < 60) {
      const headers: Record<string, string> = lastCursor === undefined ? {} : { 'last-event-id': lastCursor };
      const reader = await open({ key, query, headers });
      for (let count = 0; count < 12; count += 1) {
        written += 1;
        await grant(key, written);
      }
      await reader.untilChanges(1);
      reader.close();
      found.push(...reader.changes);
      lastCursor = reader.lastCursor;
    }
    const objects = objectsOf(found);
    assert.deepEqual(
      objects,
      objects.map((_, index) => `document:${index + 1}`),
    );
  });

  it('says how far it is, also if nothing passes its filter', async () => {
    const { key } = await service.createTenant();
    const reader = await open({ key, query: '?namespace=nothing' });
    await reader.until('the first checkpoint', () => reader.checkpoints === 1);
    await grant(key, 1);
    const { lastCursor } = reader;
    await reader.until('the next checkpoint', () => reader.checkpoints === 2);
    assert.notEqual(reader.lastCursor, lastCursor);
    const rest = await readPage(key, `?cursor=${reader.lastCursor}`);
    assert.deepEqual(rest.changes, [], 'everything before is told');
  });

  it('has as many beside it as the plan says, and waiting pages count', async () => {
    const { key } = await service.createTenant('few');
    const { next_cursor: cursor } = await readPage(key);
    const waiting = readPage(key, `?cursor=${cursor}&wait=30`);
    await waitFor('the page', async () => /grantd_change_streams\{kind="page"\} [1-9]/.test(await readMetrics()));
    const streams = await Promise.all(Array.from({ length: STREAMS_MAX - 1 }, () => open({ key })));
    const refused = await read(key, '', { accept: SSE });
    assertProblem(refused, 429, 'too-many-streams', service.errorsBase);
    assert.ok(Number(refused.headers['retry-after']) >= 1);
    const other = await service.createTenant('few');
    assert.equal((await open({ key: other.key })).status, 200);
    streams[0]?.close();
    await waitFor('the place', async () => (await open({ key })).status === 200);
    await grant(key, 1);
    assert.ok((await waiting).changes.length > 0);
  });

  it('goes on for a client that pauses, and leaves nothing out', async () => {
    const { key } = await service.createTenant();
    const reader = await open({ key, accept: NDJSON, query: '?action=grant.created' });
    await reader.until('the first checkpoint', () => reader.checkpoints === 1);
    reader.pause();
    await flood(key, 20);
    reader.resume();
    await reader.untilChanges(2000);
    assert.equal(new Set(positionsOf(reader.changes)).size, 2000);
    assert.deepEqual(positionsOf(reader.changes), [...positionsOf(reader.changes)].sort());
  });

  it('ends for a client that takes nothing, which misses nothing when it comes back', async () => {
    const { key } = await service.createTenant();
    const reader = await open({ key, accept: NDJSON, query: '?action=grant.created' });
    await reader.until('the first checkpoint', () => reader.checkpoints === 1);
    const metric = /grantd_change_streams_closed_total\{kind="ndjson",reason="(?:slow|memory)"\} [1-9]/;
    reader.pause();
    await flood(key, FLOOD_WRITES);
    const startedMs = performance.now();
    await waitFor('its end', async () => metric.test(await readMetrics()));
    assert.ok(performance.now() - startedMs < 4 * STALL_MS);
    reader.resume();
    await waitFor('the end', () => reader.ended);
    const found = [...reader.changes];
    assert.ok(found.length < 100 * FLOOD_WRITES, 'it did not get all');
    const query = `?action=grant.created${found.length === 0 ? '' : `&cursor=${reader.lastCursor}`}`;
    const next = await open({ key, accept: NDJSON, query });
    await next.untilChanges(100 * FLOOD_WRITES - found.length);
    found.push(...next.changes);
    const positions = positionsOf(found);
    assert.deepEqual([new Set(positions).size, positions], [100 * FLOOD_WRITES, [...positions].sort()]);
  });

  /** Grants with the longest names, a hundred at a time. */
  async function flood(key: string, writes: number): Promise<void> {
    for (let number = 0; number < writes; number += 1) {
      const grants = Array.from({ length: 100 }, (_, index) => {
        const id = `${number}-${index}-`.padEnd(250, 'x');
        return { subject: `user:${id}`, relation: 'viewer', object: `document:${id}` };
      });
      const answer = await service.send({ method: 'POST', path: '/v1/grants/bulk', body: { grants }, key });
      assert.equal(answer.status, 200, answer.text);
    }
  }
});

describe('other clients of the change feed', () => {
  const curl = async (key: string, args: readonly string[], until: RegExp): Promise<string> => {
    const child = spawn('curl', [
      '-sNi',
      '-H',
      `Authorization: Bearer ${key}`,
      ...args,
      `${service.baseUrl}/v1/changes`,
    ]);
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    await waitFor('what curl writes', () => until.test(text));
    child.kill();
    await once(child, 'exit');
    return text;
  };

  it('read it as it comes: curl', async () => {
    const { key } = await service.createTenant();
    await grant(key, 1);
    const text = await curl(key, ['-H', 'Accept: text/event-stream'], /event: checkpoint\nid: \S+\ndata: /);
    assert.match(text, /event: change\nid: \S+\ndata: \{"seq":/);
    assert.match(text, /Transfer-Encoding: chunked/i);
  });

  it('read it without chunks: curl with HTTP/1.0', async () => {
    const { key } = await service.createTenant();
    await grant(key, 1);
    const text = await curl(key, ['-0', '-H', `Accept: ${NDJSON}`], /"type":"checkpoint"/);
    assert.doesNotMatch(text, /chunked/i);
    const [, body = ''] = text.split('\r\n\r\n');
    for (const line of body.trim().split('\n')) assert.ok(['change', 'checkpoint'].includes(JSON.parse(line).type));
  });
});
