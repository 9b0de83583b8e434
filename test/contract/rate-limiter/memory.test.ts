// The limiter in the memory of one front keeps the contract.

import { createMemoryRateLimiter } from '../../../src/front/limits/memory-rate-limiter.ts';
import { systemClock } from '../../../src/roles/process/system.ts';
import { defineLimiterContract } from './limiter-contract.ts';

const limiter = createMemoryRateLimiter({ clock: systemClock });
defineLimiterContract('in memory', () => limiter);
