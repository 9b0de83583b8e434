// The names that a front has been asked about: told to the owner of each tenant, once a minute, within bounds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AskedNames } from '../../../../src/front/links/asked-names.ts';
import type { AskedReport } from '../../../../src/rpc/messages.ts';
import { ASKED_PER_REPORT_MAX } from '../../../../src/rpc/protocol.ts';
import { NAMES_MAX } from '../../../../src/rules/rule-set.ts';
import { ids } from '../harness.ts';

const askerAt = (slot: number) => ({ tenantId: ids.create('ten'), slot });

/** What is told of each slot, by links that are ready. */
function told(asked: AskedNames, isReady: (slot: number) => boolean = () => true): AskedReport[] {
  const reports: AskedReport[] = [];
  asked.tell(
    (slot) => (slot < 0 ? undefined : slot),
    (slot, parts) => {
      if (!isReady(slot)) return false;
      reports.push(...parts);
      return true;
    },
  );
  return reports;
}

test('a name is told once a minute, to the owner of its tenant, and later if it cannot be told yet', () => {
  const asked = new AskedNames();
  const [one, two] = [askerAt(1), askerAt(2)];
  const unknown = { ...askerAt(-1) };
  for (const name of ['can_read', 'can_edit', 'can_read', 'viewer']) asked.note(one, name);
  asked.note({ ...one }, 'can_edit');
  asked.note(two, 'can_read');
  asked.note(unknown, 'can_read');
  const first = { slot: 1, tenantId: one.tenantId, names: ['can_read', 'can_edit'] };
  assert.deepEqual(
    told(asked, (slot) => slot === 1),
    [first],
  );
  unknown.slot = 3;
  assert.deepEqual(told(asked), [
    { slot: 2, tenantId: two.tenantId, names: ['can_read'] },
    { slot: 3, tenantId: unknown.tenantId, names: ['can_read'] },
  ]);
  asked.note(one, 'can_read');
  assert.deepEqual(told(asked), []);
  asked.startOver();
  asked.note(one, 'can_edit');
  asked.note(one, 'can_read');
  assert.deepEqual(told(asked), [{ ...first, names: ['can_edit', 'can_read'] }]);
});

test('neither a key that asks about any number of names nor many tenants make it grow, or a report too long', () => {
  const countMax = NAMES_MAX + 10;
  const asked = new AskedNames(countMax);
  const [hostile, other] = [askerAt(1), askerAt(2)];
  for (let index = 0; index < 200_000; index += 1) asked.note(hostile, `n${index}`);
  for (const name of ['', 'no name', 'n'.repeat(65), 'ü']) asked.note(other, name);
  for (let index = 0; index < 100; index += 1) asked.note(other, `n${index}`);
  const counts: number[][] = [];
  for (let reports = told(asked); reports.length > 0; reports = told(asked)) {
    counts.push(reports.map(({ names }) => names.length));
  }
  assert.deepEqual(counts, [[ASKED_PER_REPORT_MAX], [NAMES_MAX - ASKED_PER_REPORT_MAX, 10]]);
});
