// Many seeds of every focus.

import { FOCUSES } from '../profile.ts';
import { testFocuses } from '../test-seeds.ts';

const BROAD_SEEDS = 300;
const FOCUSED_SEEDS = 24;

testFocuses(new Map(FOCUSES.map((focus) => [focus, focus === 'broad' ? BROAD_SEEDS : FOCUSED_SEEDS])));
