// Changes while a call waits for the store, at every read that it makes.

import { testMoments } from '../../unit/shard/evaluation/moments-cases.ts';

testMoments(true);
