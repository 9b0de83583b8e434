// Loaded in a process of the runner whose tests run behind the others: it and the processes it starts yield to them.

import { constants, setPriority } from 'node:os';

setPriority(constants.priority.PRIORITY_LOW);
