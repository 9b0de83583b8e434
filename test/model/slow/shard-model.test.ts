// The shard against a plain Map, at length.

import { compareWithMap } from '../support/shard-model.ts';

compareWithMap(300);
