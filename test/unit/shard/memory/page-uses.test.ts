// Which pages are used most: hottest first, tenants in turn, in bounded memory.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NamedPage, PageUses } from '../../../../src/shard/memory/page-uses.ts';
import { ids } from '../tools.ts';

const [first, second] = [ids.create('ten'), ids.create('ten')];

function note(uses: PageUses, page: NamedPage, times: number): void {
  for (let time = 0; time < times; time += 1) uses.note(page);
}

const page = (entity: string, tenantId = first, side: NamedPage['side'] = 'subject'): NamedPage => ({
  tenantId,
  side,
  entity,
});

test('the most used page comes first, and tenants come in turn', () => {
  const uses = new PageUses();
  note(uses, page('user:a'), 1);
  note(uses, page('user:b'), 9);
  note(uses, page('user:c'), 5);
  note(uses, page('user:a', second), 1);
  note(uses, page('user:a', second, 'object'), 2);
  assert.deepEqual(
    [...uses.hottest()],
    [page('user:b'), page('user:a', second, 'object'), page('user:c'), page('user:a', second), page('user:a')],
  );
});

test('a page in use stays known however many others are seen once, and these are forgotten', () => {
  const uses = new PageUses();
  for (let round = 0; round < 5000; round += 1) {
    note(uses, page(`user:${round}`), 1);
    if (round % 50 === 0) note(uses, page('user:hot'), 1);
  }
  const known = [...uses.hottest()];
  assert.deepEqual(known[0], page('user:hot'));
  assert.ok(known.length <= 512, `${known.length} are known`);
});
