// The differences that the comparison with cel-go allows are those that the docs list.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { DIFFERENCES } from './conditions/differences.ts';

it('differences from cel-go are those of docs/guides/conditions.md', () => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'guides', 'conditions.md'), 'utf8');
  const [, section = ''] = text.split('## Differences from cel-go\n');
  const [, , ...rows] = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  const listed = rows.map((row) => row.split(' | ')[0]?.replace('|', '').trim());
  assert.deepEqual(
    listed,
    DIFFERENCES.map(({ expression }) => expression),
  );
});
