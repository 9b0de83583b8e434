// Gives a store that was restored from a copy an id of its own, so that no process takes its cluster for the original.
// Invariant: a process that worked on the store under the old id is fenced. First the id changes, then every member is
// declared dead; one that joins again reads the id after it has inserted its row (membership-lease.ts).

import { type Clock, delay } from '../../core/async/clock.ts';
import type { ClusterId } from '../../core/ids.ts';
import type { MemberRow, MemberStore, Meta, MetaStore } from '../../store/store.ts';
import { StoreRefusal } from '../../store/store-adapter.ts';
import { storeDeadline } from '../store-calls.ts';
import { declareEnded } from './predecessors.ts';

/** Beyond the lease: a heartbeat may be on its way, and clocks differ in rate. */
const SILENCE_MARGIN_MS = 1000;
const LISTED_MAX = 10;

export interface NewClusterIdPorts {
  readonly store: MemberStore & Pick<MetaStore, 'readMeta' | 'replaceClusterId'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Resolves once the store has the id `to`, and no member of before is alive. Rejects with StoreRefusal, and changes
 * nothing, if a member sends heartbeats.
 */
export async function giveNewClusterId(ports: NewClusterIdPorts, meta: Meta, to: ClusterId): Promise<void> {
  const { store, clock } = ports;
  await requireSilence(ports, meta);
  const standing = await store.replaceClusterId(meta.clusterId, to, storeDeadline(clock));
  if (standing !== to) {
    throw new StoreRefusal(`The cluster was given another ID meanwhile: ${standing}. Nothing was changed.`);
  }
  for (const member of await listLiving(ports)) await declareEnded({ store, clock }, member);
}

/** The listing is only a hint; the rows are read as conditional writes have left them. */
async function listLiving({ store, clock }: NewClusterIdPorts): Promise<readonly MemberRow[]> {
  const living: MemberRow[] = [];
  for (const { incarnation, state } of await store.listMembers(storeDeadline(clock))) {
    const row = state === 'dead' ? undefined : await store.readMember(incarnation, storeDeadline(clock));
    if (row !== undefined && row.state !== 'dead') living.push(row);
  }
  return living;
}

/** Throws StoreRefusal if the heartbeat of a member changes, or a member joins, within the time of a lease. */
async function requireSilence(ports: NewClusterIdPorts, { leaseMs }: Meta): Promise<void> {
  const { clock, signal } = ports;
  const before = new Map((await listLiving(ports)).map(({ incarnation, heartbeat }) => [incarnation, heartbeat]));
  if (before.size === 0) return;
  await delay(clock, leaseMs + SILENCE_MARGIN_MS, signal);
  const alive = (await listLiving(ports)).filter(({ incarnation, heartbeat }) => before.get(incarnation) !== heartbeat);
  if (alive.length === 0) return;
  const named = alive.slice(0, LISTED_MAX).map(({ shardName, address }) => `${shardName} at ${address}`);
  throw new StoreRefusal(
    `Shards are running on this store: ${named.join(', ')}${alive.length > LISTED_MAX ? ', …' : ''}. Stop them first. If this is the original and not a restored copy, keep its ID.`,
  );
}
