// The checker of histories has to be quick enough for the histories of whole clusters.

import { judgeLongHistories } from './support/history-speed.ts';

judgeLongHistories(4);
