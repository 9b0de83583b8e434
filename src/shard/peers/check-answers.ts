// Answers to single checks. One carries a time of its own only where it matters when exactly it was decided; for all
// others, the time of this process at the reply will do.

import type { CheckAnswer } from '../shard.ts';
import type { Handle } from './handles.ts';

/** `lasting`: it rests on a grant that does not expire. */
export function answerNow(handle: Handle, authorized: boolean, lasting = false): CheckAnswer {
  if (!isTimed(handle, lasting)) return authorized;
  return { authorized, checkedAtMs: handle.tenure.slotTime.nowMs };
}

export const answerAt = (handle: Handle, authorized: boolean, checkedAtMs: number, lasting = false): CheckAnswer =>
  isTimed(handle, lasting) ? { authorized, checkedAtMs } : authorized;

/** Where grants of the tenant expire, and at a reader whose clock is not its owner's: the owner tells the time. */
const isTimed = ({ memory, reader }: Handle, lasting: boolean): boolean =>
  (!lasting && memory.nextExpiryMs !== undefined) || reader?.hasOwnersClock === false;
