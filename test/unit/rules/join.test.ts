import { describe } from 'node:test';
import { testJoins } from './join-cases.ts';

describe('joins', () => {
  testJoins('union', 3000);
  testJoins('conditions', 1500);
  testJoins('whole', 3000);
});
