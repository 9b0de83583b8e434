// The shard against a plain Map, in a few random sequences for each of its configurations.

import { compareWithMap } from './support/shard-model.ts';

compareWithMap(12);
