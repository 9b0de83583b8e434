// Each protection, switched off, is found out.

import { testMutations } from '../mutation-cases.ts';
import { MUTATIONS } from '../mutations.ts';

testMutations(MUTATIONS);
