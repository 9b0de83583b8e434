// The list of tenants: filters, orders, pages forwards and backwards, and how much one page reads.

import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import type { TenantId } from '../../../../src/core/ids.ts';
import { OPERATOR_TOKEN, useConsole } from '../../../kit/console-service.ts';
import { waitFor } from '../../../kit/wait-for.ts';
import { slotView } from '../cluster-picture.ts';
import { ConsoleVisitor } from '../console-visitor.ts';

const context = { requestId: 'req_x', deadlineMs: Number.MAX_VALUE };

const service = await useConsole();
let visitor: ConsoleVisitor;

before(async () => {
  for (let index = 0; index < 120; index += 1) {
    const plan = index % 3 === 0 ? 'scale' : 'free';
    const tenantId = await makeTenant(`Tenant ${119 - index}`, plan);
    if (index % 40 === 0) {
      await service.operator.call('updateTenant', context, { tenantId, state: 'suspended', operator: 'test' });
    }
  }
});
beforeEach(async () => {
  visitor = await new ConsoleVisitor(service.url).logIn(OPERATOR_TOKEN);
});

async function makeTenant(name: string, plan = 'free'): Promise<TenantId> {
  return (await service.operator.createTenant(context, { name, plan, operator: 'test' })).tenantId;
}

const decoded = (text: string): string => text.replaceAll('&amp;', '&');

/** The names on the page, and where its links lead. */
async function visit(path: string) {
  const { status, text } = await visitor.get(path);
  assert.equal(status, 200);
  const linkOf = (name: string): string | undefined => {
    const found = new RegExp(`href="([^"]+)">${name}</a>`).exec(text)?.[1];
    return found === undefined ? undefined : decoded(found);
  };
  return {
    text,
    names: [...text.matchAll(/<a href="[^"]*ten_[0-9a-z]{26}"><bdi[^>]*>([^<]*)<\/bdi>/g)].map(
      ([, name]) => name ?? '',
    ),
    first: linkOf('First page'),
    previous: linkOf('Previous page'),
    next: linkOf('Next page'),
  };
}

/** From page to page by one of its links. */
async function walk(start: string, by: 'next' | 'previous') {
  const pages = [];
  for (let path: string | undefined = start; path !== undefined; ) {
    const page: Awaited<ReturnType<typeof visit>> = await visit(path);
    pages.push({ path, names: page.names });
    path = page[by];
  }
  return pages;
}

describe('the list of tenants', () => {
  it('goes forwards over all of them and back over the same pages', async () => {
    const forwards = await walk('/console/tenants', 'next');
    assert.deepEqual(
      forwards.map(({ names }) => names.length),
      [50, 50, 20],
    );
    assert.equal(new Set(forwards.flatMap(({ names }) => names)).size, 120);
    const backwards = await walk(forwards.at(-1)?.path ?? '', 'previous');
    assert.deepEqual(
      backwards.toReversed().map(({ names }) => names),
      forwards.map(({ names }) => names),
    );
  });

  it('is filtered by plan, state and name together, on every page', async () => {
    const scale = await walk('/console/tenants?plan=scale', 'next');
    assert.equal(scale.flatMap(({ names }) => names).length, 40);
    const suspended = await visit('/console/tenants?state=suspended&plan=scale&q=tenant%20119');
    assert.deepEqual(suspended.names, ['Tenant 119']);
    assert.match(suspended.text, /<option value="suspended" selected>/);
    assert.match((await visit('/console/tenants?state=suspended&plan=none')).text, /No tenant matches/);
    // What is no state and no order is as if it had not been asked.
    assert.equal((await visit('/console/tenants?state=deleted&sort=toString')).names.length, 50);
  });

  it('is sorted as asked, page by page, and says which of how many it shows', async () => {
    const byName = await visit('/console/tenants?sort=name');
    assert.deepEqual(byName.names.slice(0, 3), ['Tenant 0', 'Tenant 1', 'Tenant 2'], 'numbers are not letters');
    assert.match(byName.text, /1 to 50 of 120\./);
    const all = await walk('/console/tenants?sort=name', 'next');
    assert.deepEqual(
      all.flatMap(({ names }) => names),
      Array.from({ length: 120 }, (_, index) => `Tenant ${index}`),
    );
    assert.deepEqual((await visit('/console/tenants?sort=name&page=999')).names, all.at(-1)?.names);
    assert.equal((await walk('/console/tenants?sort=name&page=3', 'previous')).length, 3);
  });

  it('shows the grants and the requests of the last minute, and sorts by them', async () => {
    const [busy, idle] = [await makeTenant('Busy'), await makeTenant('Idle')];
    const session = await service.operator.tenant(context, idle, 'test');
    const grants = Array.from({ length: 3 }, (_, index) => ({
      subject: 'user:ada',
      relation: 'viewer' as const,
      object: `doc:${index}`,
      revoke: false,
    }));
    await session.call('writeGrants', context, grants);
    service.operator.lastMinutes.set(busy, { atMs: 0, requests: 1234, refused: 56, checks: 7 });
    const byRequests = await visit('/console/tenants?sort=requests');
    assert.equal(byRequests.names[0], 'Busy');
    assert.match(byRequests.text.replaceAll(/<[^>]*>/g, ''), /1,234 \(56 refused\)/);
    assert.equal((await visit('/console/tenants?sort=grants')).names[0], 'Idle');
    const newest = await visit('/console/tenants?sort=newest');
    assert.deepEqual(newest.names.slice(0, 2).sort(), ['Busy', 'Idle'], 'perhaps of the same millisecond');
  });

  it('reads one bounded listing for a page, and says when it sorted only some', async () => {
    await Promise.all(Array.from({ length: 1000 }, (_, index) => makeTenant(`More ${index}`)));
    for (const [path, cut] of [
      ['/console/tenants', false],
      ['/console/tenants?sort=name', true],
      ['/console/tenants?sort=name&q=Tenant', false],
    ] as const) {
      const before = service.operator.calls.length;
      const { names, text } = await visit(path);
      assert.equal(names.length, 50);
      assert.deepEqual(
        service.operator.calls.slice(before).map(({ name }) => name),
        ['listTenants'],
      );
      assert.equal(/only the first 1,000 by ID that match are sorted/.test(text), cut, path);
    }
  });

  it('goes back a bounded number of pages, then to the first one', async () => {
    let path: string | undefined = '/console/tenants';
    let pages = 0;
    let longest = 0;
    // 23 pages are not enough: go on from the last one as if it were new.
    const { next = '' } = await visit(path);
    const cursor = new URL(next, service.url).searchParams.get('cursor') ?? '';
    path = `/console/tenants?cursor=${cursor}&back=${Array.from({ length: 30 }, () => cursor).join('.')}`;
    const page = await visit(path);
    longest = (page.next ?? '').length;
    assert.ok(longest < 1200, String(longest));
    for (let back = page.next; back !== undefined; pages += 1) back = (await visit(back)).previous;
    assert.equal(pages, 30);
    assert.ok((await visit(`/console/tenants?cursor=${cursor}&back=~`)).first !== undefined);
    assert.equal((await visit(`/console/tenants?cursor=${cursor}&back=javascript:x`)).previous, '/console/tenants');
  });

  it('says how many there are, from the last look at the cluster', async () => {
    service.operator.slots = [slotView(0, 'north', { tenants: 7 }), slotView(1, 'north', { tenants: 5 })];
    // A look is shared for a second.
    await waitFor('a look at these slots', async () => {
      await visitor.get('/console/cluster');
      const { text } = await visit('/console/tenants');
      return /12 tenants in the cluster, as of/.test(text.replaceAll(/<[^>]*>/g, ''));
    });
  });
});

it('the page of a tenant shows the problems that its requests met, texts from outside as texts', async (test) => {
  const tenantId = await makeTenant('Troubled');
  const { operator } = service;
  test.after(() => {
    operator.problems = [];
  });
  assert.doesNotMatch((await visitor.get(`/console/tenants/${tenantId}`)).text, /Problems that its requests met/);
  const nowMs = Date.now();
  const last = { requestId: 'req_1', detail: '"relation" is "<b>". Did you mean "viewer"?' };
  const of = { keyId: 'key_00000000000000000000000001', code: 'invalid-relation', count: 1234, ...last };
  operator.problems = [{ ...of, sinceMs: nowMs - 7_200_000, atMs: nowMs }];
  const { text } = await visitor.get(`/console/tenants/${tenantId}`);
  const plain = text.replaceAll(/<[^>]*>/g, ' ');
  const shown = /Problems that its requests met.*invalid-relation.*is &quot;&lt;b>&quot;.*1,234.*2 hours ago.*req_1/s;
  assert.match(plain, shown);
});
