// Listings of subjects behind gates are complete, whatever the gates exclude and however small the pages are.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BULK_CHANGES_MAX } from '../../../src/core/limits.ts';
import { oneService } from '../support/one-service.ts';

const service = await oneService();

interface Page {
  readonly subjects: readonly string[];
  readonly next_cursor: string | null;
  readonly excluded?: readonly string[];
}

async function openTenant(rules: object, grants: readonly string[]): Promise<string> {
  const { key } = await service.createTenant();
  const send = async (method: string, path: string, body: object): Promise<void> => {
    const answer = await service.send({ method, path, key, body });
    assert.ok(answer.status < 300, answer.text);
  };
  await send('PUT', '/v1/rules', rules);
  for (let at = 0; at < grants.length; at += BULK_CHANGES_MAX) {
    const records = grants.slice(at, at + BULK_CHANGES_MAX).map((text) => {
      const [subject, relation, object] = text.split(' ');
      return { subject, relation, object };
    });
    await send('POST', '/v1/grants/bulk', { grants: records });
  }
  return key;
}

async function listed(key: string, limit: number): Promise<{ subjects: string[]; excluded: string[] }> {
  const [subjects, excluded]: [string[], string[]] = [[], []];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path = `/v1/subjects?object=document:1&relation=can_read&limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const answer = await service.send({ method: 'GET', path, key });
    assert.equal(answer.status, 200, answer.text);
    const page = answer.json as Page;
    subjects.push(...page.subjects);
    excluded.push(...(page.excluded ?? []));
    cursor = page.next_cursor;
  }
  return { subjects, excluded };
}

const rulesOf = (anyOf: readonly unknown[]): object => ({
  rules: [{ namespace: 'document', name: 'can_read', any_of: anyOf }],
  groups: true,
  public: ['user'],
});

describe('listings of subjects behind gates', () => {
  it('find those whom only the second operand names, if the first is granted to everyone', async () => {
    const gate = { all_of: [{ any_of: ['viewer'], but_not: ['guest'] }, 'member'] };
    const key = await openTenant(rulesOf([gate]), [
      'user:* viewer document:1',
      'user:eve guest document:1',
      'user:ann member document:1',
      'user:eve member document:1',
    ]);
    for (const limit of [1, 10]) assert.deepEqual(await listed(key, limit), { subjects: ['user:ann'], excluded: [] });
  });

  it('name those whom all operands of an exclusion take out of everyone', async () => {
    const gate = { any_of: ['viewer'], but_not: [{ all_of: ['guest', 'member'] }] };
    const key = await openTenant(rulesOf([gate]), [
      'user:* viewer document:1',
      'user:* guest document:1',
      'user:eve member document:1',
    ]);
    assert.deepEqual(await listed(key, 10), { subjects: ['user:*'], excluded: ['user:eve'] });
  });

  it('go on behind more candidates than one page reads', async () => {
    const gate = { any_of: ['viewer'], but_not: ['guest'] };
    const users = Array.from({ length: 1100 }, (_, index) => `user:${String(index).padStart(4, '0')}`);
    const kept = ['user:0003', 'user:1001', 'user:1099'];
    const key = await openTenant(rulesOf([gate]), [
      ...users.map((user) => `${user} viewer document:1`),
      ...users.filter((user) => !kept.includes(user)).map((user) => `${user} guest document:1`),
    ]);
    for (const limit of [1, 2, 100]) assert.deepEqual(await listed(key, limit), { subjects: kept, excluded: [] });
  });
});
