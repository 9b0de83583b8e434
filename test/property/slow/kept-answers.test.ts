// Answers that are kept over commits, in many random worlds.

import { testKeptAnswers } from '../../unit/shard/evaluation/kept-answers-cases.ts';

testKeptAnswers('union', 300);
testKeptAnswers('conditions', 100);
testKeptAnswers('whole', 300);
