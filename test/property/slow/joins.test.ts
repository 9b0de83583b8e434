// Many cases of `join-cases.ts` and `join-sql-cases.ts`, and the faults that they find.

import { describe } from 'node:test';
import { testJoinFaults, testJoins } from '../../unit/rules/join-cases.ts';
import { testJoinSql } from '../../unit/sync/join-sql-cases.ts';

describe('joins', () => {
  testJoins('union', 1500);
  testJoins('conditions', 1500);
  testJoins('whole', 3000);
});

describe('statements of joins', () => {
  testJoinSql('union', 500);
  testJoinSql('conditions', 500);
  testJoinSql('whole', 1000);
});

describe('the test of joins', () => {
  testJoinFaults(400);
});
