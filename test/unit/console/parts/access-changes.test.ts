// Who loses access: the first lines are open, and the rest of them is on the page, folded.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { accessChangesMarkup } from '../../../../packages/console/src/parts/access-changes.ts';
import { renderMarkup } from '../../../../src/http/pages/markup.ts';
import { noChanges } from '../../../../src/rules/access-changes.ts';

/** The subjects of the lines, before what is folded and in it, and what folds them. */
function linesOf(count: number) {
  const rows = Array.from({ length: count }, (_, index) => ({
    ...{ subjects: [`user:${index}`], subjectCount: 1, isGroup: false, members: 0 },
    ...{ names: ['viewer'], objects: ['doc:1'], objectCount: 1 },
  }));
  const lost = { subjects: count, objects: 1, rows, rowsLeft: 0, byName: false };
  const text = renderMarkup(accessChangesMarkup('ten_x', { ...noChanges('bounds'), lost, open: [] }));
  const [open = '', folded = ''] = text.split('<details>');
  const subjectsIn = (part: string): number => [...part.matchAll(/subject=user%3A/g)].length;
  return { open: subjectsIn(open), folded: subjectsIn(folded), summary: /<summary>(.*?)<\/summary>/.exec(text)?.[1] };
}

it('opens a few lines, and folds the others, of which one alone is not worth it', () => {
  assert.deepEqual(linesOf(5), { open: 5, folded: 0, summary: undefined });
  assert.deepEqual(linesOf(12), { open: 4, folded: 8, summary: '8 more lines' });
});
