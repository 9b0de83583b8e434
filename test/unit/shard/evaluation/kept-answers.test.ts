// A few of the cases of `kept-answers-cases.ts`; `test/property/slow` runs more.

import { testKeptAnswers } from './kept-answers-cases.ts';

testKeptAnswers('union', 5);
testKeptAnswers('whole', 5);
