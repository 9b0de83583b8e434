// Many histories of `joined-history.ts`: a million objects of lists.

import { testJoinedLists } from '../../unit/sync/joined-history.ts';

testJoinedLists(130, 80);
