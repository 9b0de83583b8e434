// What a limit takes, where it is more than a number.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGE_LIMIT_MAX, parsePageLimit } from '../../../src/core/limits.ts';

test('the limit of a page is a whole number from 1 to the greatest page', () => {
  assert.equal(parsePageLimit('1'), 1);
  assert.equal(parsePageLimit(String(PAGE_LIMIT_MAX)), PAGE_LIMIT_MAX);
  const refused = ['', '0', '-1', '+1', '01', '1.0', '1e2', ' 1', '1 ', '0x10', '٣', 'many', '9'.repeat(11)];
  for (const text of [...refused, String(PAGE_LIMIT_MAX + 1)]) assert.equal(parsePageLimit(text), undefined, text);
});
