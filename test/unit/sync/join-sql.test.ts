// A few of the cases of `join-sql-cases.ts`; `test/property/slow` runs many.

import { describe } from 'node:test';
import { testJoinSql } from './join-sql-cases.ts';

describe('statements of joins', () => {
  testJoinSql('union', 12);
  testJoinSql('conditions', 12);
  testJoinSql('whole', 20);
});
