import { describe } from 'node:test';
import { testJoins } from './join-cases.ts';

describe('joins', () => {
  testJoins('union', 100);
  testJoins('conditions', 60);
  testJoins('whole', 100);
});
