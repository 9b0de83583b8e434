// The bounded map against a model.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RecentMap } from '../../../../src/front/requests/recent-map.ts';

test('never holds more than its bound, never a stale value, and keeps what was used lately', () => {
  const operation = fc.record({ kind: fc.constantFrom('get', 'set', 'delete'), key: fc.nat(20).map(String) });
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 12 }), fc.array(operation, { maxLength: 200 }), (sizeMax, operations) => {
      const map = new RecentMap<number>(sizeMax);
      const model = new Map<string, number>();
      const used: string[] = [];
      for (const [step, { kind, key }] of operations.entries()) {
        if (kind === 'set') {
          map.set(key, step);
          model.set(key, step);
        } else if (kind === 'delete') {
          map.delete(key);
          model.delete(key);
        } else {
          const found = map.get(key);
          if (found !== undefined) assert.equal(found, model.get(key));
          if (model.has(key) && recentlyUsed(used, key, Math.floor(sizeMax / 2))) assert.notEqual(found, undefined);
          if (found === undefined) continue;
        }
        if (kind !== 'delete') used.push(key);
        assert.ok(map.size <= Math.max(2, sizeMax));
      }
    }),
  );

  function recentlyUsed(used: readonly string[], key: string, count: number): boolean {
    const distinct = new Set<string>();
    for (const each of used.toReversed()) {
      distinct.add(each);
      if (distinct.size > count) return false;
      if (each === key) return true;
    }
    return false;
  }
});
