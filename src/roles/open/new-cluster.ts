// What a new cluster is created with, on any store. The store keeps all of it, and no setting of a process changes it
// later.

import type { Random } from '../../core/async/clock.ts';
import { SEGMENT_SIZE_DEFAULT } from '../../core/slots.ts';
import { LOG_FORMAT } from '../../shard/log/entries.ts';
import type { Meta } from '../../store/store.ts';

/** Long enough to survive an event loop and a store that each stall for a second. */
const LEASE_MS = 2_500;
/** Every front responds to every request within this time. */
export const DEADLINE_MS = 10_000;
const CURSOR_SECRET_LENGTH = 32;

export function newCluster(slots: number): Omit<Meta, 'cursorSecrets'> {
  return {
    slots,
    segmentSize: SEGMENT_SIZE_DEFAULT,
    leaseMs: LEASE_MS,
    deadlineMs: DEADLINE_MS,
    logFormat: LOG_FORMAT,
  };
}

export function makeCursorSecret(random: Random): string {
  return Buffer.from(random.bytes(CURSOR_SECRET_LENGTH)).toString('base64url');
}
