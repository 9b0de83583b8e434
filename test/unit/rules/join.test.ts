// A few of the cases of `join-cases.ts`; `test/property/slow` runs many, and plants faults that they find.

import { describe } from 'node:test';
import { testJoins } from './join-cases.ts';

describe('joins', () => {
  testJoins('union', 25);
  testJoins('conditions', 25);
  testJoins('whole', 35);
});
