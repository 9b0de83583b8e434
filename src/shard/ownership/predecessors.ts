// Declares incarnations dead that are known to have ended, so that no shard waits for their leases. Invariant: a member
// is declared dead here only on certain knowledge. Either its own process ended the session, or another process is in a
// place where only one can be: a later shard, or the watch of the place (roles/watch.ts).

import { type Clock, delay } from '../../core/async/clock.ts';
import type { MemberRow, MemberStore } from '../../store/store.ts';
import type { Log } from '../../telemetry/log.ts';
import { storeDeadline } from '../store-calls.ts';

/** A heartbeat that was in flight when the session ended may make each declaration but the last fail. */
const TRIES_MAX = 3;
/** Of one conditional write; the next one goes to another coordinator. */
export const DECLARATION_MS_MAX = 700;

interface PredecessorsPorts {
  readonly store: MemberStore;
  readonly clock: Clock;
}

/** Declares an ended session dead, whatever heartbeat its row holds. Resolves to whether it is dead. */
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
 * The earlier members of this place that are not yet declared dead. Only for a process that is already there, before it
 * becomes a member itself. `isThere` becomes false before the process leaves the place: from then on a listing may show
 * rows of later processes. A member that the listing does not show yet, or whose store does not respond, is later found
 * dead by its silence.
 */
export async function findPredecessors(
  { store, clock, log }: PredecessorsPorts & { readonly log: Log },
  { place, isThere }: { readonly place: string; readonly isThere: () => boolean },
): Promise<readonly MemberRow[]> {
  try {
    const rows = await store.listMembers(storeDeadline(clock));
    return isThere() ? rows.filter((row) => row.place === place && row.state !== 'dead') : [];
  } catch (error) {
    warn(log, error);
    return [];
  }
}

/**
 * Declares dead what `findPredecessors` has found, once everything is over that they may have promised before they
 * died (log/quiet-promises.ts): their successors do not wait for their leases. `promisesMs`: no promise lasts longer.
 */
export async function declarePredecessors(
  { store, clock, log }: PredecessorsPorts & { readonly log: Log },
  rows: readonly MemberRow[],
  promisesMs: number,
): Promise<void> {
  if (rows.length > 0) await delay(clock, promisesMs);
  await Promise.all(
    rows.map(async (row) => {
      try {
        if (!(await declareEnded({ store, clock }, row))) return;
        const { incarnation, shardName } = row;
        log.warn(
          { incarnation, shardName },
          'an earlier process in the same place did not deregister; declared it dead',
        );
      } catch (error) {
        warn(log, error);
      }
    }),
  );
}

/** What holds a place, without being a member (roles/process/place-watch.ts). */
export interface HeldPlace {
  /** Whether no other process can be there now. */
  isHeld(): boolean;
  /** Lets a shard take the place. */
  release(): void;
}

/**
 * Declares every member of a held place dead. Lets go of the place once it has listed them: a shard that takes it then
 * is another incarnation. Resolves to whether the place was held for long enough; then it is known who was there.
 */
export async function declareVacant(
  ports: PredecessorsPorts & { readonly log: Log },
  { place, held, promisesMs }: { readonly place: string; readonly held: HeldPlace; readonly promisesMs: number },
): Promise<boolean> {
  const rows = await findPredecessors(ports, { place, isThere: held.isHeld });
  const isKnown = held.isHeld();
  held.release();
  await declarePredecessors(ports, rows, promisesMs);
  return isKnown;
}

const warn = (log: Log, error: unknown): void =>
  log.warn(
    { err: error },
    'cannot declare earlier processes in the same place dead; waiting for their leases to expire',
  );
