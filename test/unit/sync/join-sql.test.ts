import { describe } from 'node:test';
import { testJoinSql } from './join-sql-cases.ts';

describe('statements of joins', () => {
  testJoinSql('union', 30);
  testJoinSql('conditions', 30);
  testJoinSql('whole', 60);
});
