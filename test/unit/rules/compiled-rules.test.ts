// How compiled rules read subjects.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGroup } from '../../../src/rules/compiled-rules.ts';

test('a subject is one of a group if a name follows its last "#"', () => {
  for (const subject of ['team:a#member', 'team:a#b#member', 'team:#x#can_read', 'team:ü😀#m.-_1']) {
    assert.ok(parseGroup(subject) !== undefined, subject);
  }
  for (const subject of ['team:a', 'team:#member', 'team:a#', 'team:a#1', 'team:a#a:b', 'team:a# member']) {
    assert.ok(parseGroup(subject) === undefined, subject);
  }
});
