// Many seeds of every focus.

import { testFocuses } from '../test-seeds.ts';

testFocuses({ broad: 300, focused: 24 });
