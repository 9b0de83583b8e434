// A few of the histories of `joined-history.ts`, which `test/property/slow` runs many of, with the faults of
// `joined-faults.ts` planted, too.

import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { withSwitches } from '../../simulation/mutation-switch.ts';
import { JOIN_FAULTS } from './joined-faults.ts';
import { testJoinedLists } from './joined-history.ts';

const ROOT = new URL('../../../', import.meta.url);

testJoinedLists(2, 30);

test('every fault of joined lists patches the code as it is', () => {
  for (const file of new Set(JOIN_FAULTS.flatMap(({ edits }) => edits.map((edit) => edit.file)))) {
    withSwitches(readFileSync(new URL(file, ROOT), 'utf8'), file, JOIN_FAULTS);
  }
});
