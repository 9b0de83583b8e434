// The end of those that are known to be over: nobody waits for their leases. It keeps: a member is declared dead here
// only on certain knowledge, which is that its own process ended the session, or that a later process is where only one
// can be.

import type { Clock } from '../../core/async/clock.ts';
import type { MemberRow, MemberStore } from '../../store/store.ts';
import type { Log } from '../../telemetry/log.ts';
import { storeDeadline } from '../store-calls.ts';

/** A heartbeat that was still in flight at its end may stand before each declaration but the last. */
const TRIES_MAX = 3;
const DECLARATION_MS_MAX = 700;

interface PredecessorsPorts {
  readonly store: MemberStore;
  readonly clock: Clock;
}

/** Of a session that is over: whatever heartbeat stands. Resolves to whether it is dead. */
export async function declareEnded(
  { store, clock }: PredecessorsPorts,
  { incarnation, heartbeat: lastHeartbeat }: Pick<MemberRow, 'incarnation' | 'heartbeat'>,
): Promise<boolean> {
  let heartbeat = lastHeartbeat;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const { row } = await store.declareDead({ incarnation, heartbeat }, clock.monotonicMs() + DECLARATION_MS_MAX);
    if (row === undefined || row.state === 'dead') return true;
    heartbeat = row.heartbeat;
  }
  return false;
}

/**
 * Declares the earlier members of this place dead. Only for a process that is there now, before it is a member itself;
 * `isThere` becomes false before it leaves, since from then on the rows that a listing shows may be those of later
 * ones. Members that a listing does not show yet, and those of a store that does not respond, are found dead by their
 * silence.
 */
export async function declarePredecessors(
  { store, clock, log }: PredecessorsPorts & { readonly log: Log },
  { place, isThere }: { readonly place: string; readonly isThere: () => boolean },
): Promise<void> {
  try {
    const rows = await store.listMembers(storeDeadline(clock));
    if (!isThere()) return;
    for (const row of rows) {
      if (row.place !== place || row.state === 'dead') continue;
      if (!(await declareEnded({ store, clock }, row))) continue;
      const { incarnation, shardName } = row;
      log.warn(
        { incarnation, shardName },
        'an earlier process in the same place did not say that it left; it is declared dead',
      );
    }
  } catch (error) {
    log.warn(
      { err: error },
      'earlier processes in the same place cannot be declared dead; their leases are waited for',
    );
  }
}
