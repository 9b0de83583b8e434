// The plan of ownership: which slots this shard should claim, and which it should hand over, given the members and
// slots that it knows. Membership proposes: the wanted owner of a slot ranks first by rendezvous hashing among the
// living members that do not drain. The store decides: a conditional write confirms every claim.
//
//   a slot, by its row and its owner's member row         │ who claims it, and when
//   no row yet · owner dead · the owner has no row        │ by rank: the wanted owner at once, each next one 3 s
//                                                         │ after the ones before it have claimed anything
//   released, since no member could take it               │ by rank, 150 ms after one another
//   mine, but not served (handed over to this shard,      │ the wanted owner opens it, any other hands it over to
//   a lost reply, a failed opening)                       │ that one

import { isDeepStrictEqual } from 'node:util';
import { rankShards } from '../../core/slots.ts';
import type { MemberRow, SlotRow } from '../../store/store.ts';

/**
 * Longer than the second in which a shard opens no slot but those that requests wait for, and a slow claim after it.
 */
const RANK_WAIT_MS = 3000;
const RELEASED_RANK_WAIT_MS = 150;

export interface SlotView {
  readonly nowMs: number;
  readonly incarnation: string;
  readonly shardName: string;
  /** Whether this shard accepts slots; false while it drains. */
  readonly takes: boolean;
  readonly members: readonly MemberRow[];
  /** The members that may be dead. */
  readonly suspects: ReadonlySet<string>;
  readonly rows: ReadonlyMap<number, SlotRow>;
  readonly served: ReadonlySet<number>;
  /** Slots with a task in flight, or waiting after a failure. */
  readonly busy: ReadonlySet<number>;
}

export interface SlotPlan {
  readonly claims: readonly number[];
  /** Rows to hand over: they name this shard, which neither serves the slot nor is its wanted owner. */
  readonly releases: readonly { readonly row: SlotRow; readonly successor: string | undefined }[];
  /** Slots that this shard serves and another one should serve. `successor` undefined: no member can take the slot. */
  readonly handovers: readonly { readonly slot: number; readonly successor: string | undefined }[];
  /** Slots that this shard should own, and another living member owns: it may hand them over at any moment. */
  readonly expected: readonly number[];
  /** Slots that this shard would claim if the members that may be dead were dead. */
  readonly impending: readonly number[];
  /** Whether other members are to claim slots that, as far as this shard knows, nobody owns. */
  readonly leavesClaims: boolean;
  /** The slots that this shard should own, given the known members. */
  readonly wanted: ReadonlySet<number>;
}

/** The living members that accept slots, one per shard name: the later one if there are two runs of a shard. */
export function candidatesOf(members: readonly MemberRow[]): ReadonlyMap<string, MemberRow> {
  const candidates = new Map<string, MemberRow>();
  for (const member of members) {
    // A row without a heartbeat may be the late insertion of a process that has ended.
    if (member.state !== 'alive' || member.heartbeat === 0) continue;
    const known = candidates.get(member.shardName);
    if (known === undefined || isLater(member, known)) candidates.set(member.shardName, member);
  }
  return candidates;
}

function isLater(left: MemberRow, right: MemberRow): boolean {
  if (left.startedAtMs !== right.startedAtMs) return left.startedAtMs > right.startedAtMs;
  return left.incarnation > right.incarnation;
}

type Claimable = 'unclaimed' | 'dead' | 'released' | 'mine';

export class SlotPlanner {
  readonly #slots: number;
  #names: readonly string[] = [];
  /** By slot: the names of the candidates, highest weight first. */
  #ranks: readonly (readonly string[])[] = [];
  /** By slot: since when its row has been claimable in its present form. */
  readonly #claimable = new Map<number, { readonly key: string; readonly sinceMs: number }>();
  /** By slot: the epoch last seen. */
  readonly #epochs = new Map<number, number>();
  /** By incarnation: when it was last seen to have claimed a slot. */
  readonly #claimedAtMs = new Map<string, number>();

  constructor(slots: number) {
    this.#slots = slots;
  }

  plan(view: SlotView): SlotPlan {
    const candidates = candidatesOf(view.members);
    // A later run of the same shard replaces this one.
    const isCandidate = candidates.get(view.shardName)?.incarnation === view.incarnation;
    const takes = view.takes && isCandidate;
    // A draining shard leaves itself out, even if the others have not read yet that it drains.
    const leaves = isCandidate && !view.takes;
    this.#rank([...candidates.keys()].filter((name) => !(leaves && name === view.shardName)));
    const incarnationOf = (name: string | undefined) =>
      name === undefined ? undefined : candidates.get(name)?.incarnation;

    this.#lookWhoClaims(view);
    const claims: number[] = [];
    const releases: { row: SlotRow; successor: string | undefined }[] = [];
    const handovers: { slot: number; successor: string | undefined }[] = [];
    const states = new Map(view.members.map(({ incarnation, state }) => [incarnation, state]));
    const expected: number[] = [];
    const impending: number[] = [];
    const owned = new Set<number>();
    let leavesClaims = false;
    for (let slot = 0; slot < this.#slots; slot += 1) {
      const ranking = this.#ranks[slot] ?? [];
      const wanted = incarnationOf(ranking[0]);
      const isWanted = takes && wanted === view.incarnation;
      if (isWanted) owned.add(slot);
      if (view.served.has(slot)) {
        this.#claimable.delete(slot);
        if (!isWanted && !view.busy.has(slot)) handovers.push({ slot, successor: wanted });
        continue;
      }
      const row = view.rows.get(slot);
      const claimable = claimableAs(row, view.incarnation, states);
      if (claimable === undefined) {
        this.#claimable.delete(slot);
        if (isWanted) expected.push(slot);
        else if (takes && view.suspects.has(row?.owner ?? '')) {
          const heir = ranking.find((name) => !view.suspects.has(incarnationOf(name) ?? ''));
          if (heir === view.shardName) impending.push(slot);
        }
        continue;
      }
      if (view.busy.has(slot)) continue;
      if (claimable === 'mine' && row !== undefined && !isWanted) {
        releases.push({ row, successor: wanted });
        continue;
      }
      if (!takes) continue;
      const rank = ranking.indexOf(view.shardName);
      let sinceMs = this.#since(slot, row, claimable, view.nowMs);
      // Shards that rank higher are busy: they have many slots to open.
      if (claimable === 'unclaimed' || claimable === 'dead') {
        for (const name of ranking.slice(0, rank)) {
          sinceMs = Math.max(sinceMs, this.#claimedAtMs.get(incarnationOf(name) ?? '') ?? 0);
        }
      }
      if (view.nowMs - sinceMs >= waitMs(claimable, rank)) claims.push(slot);
      else leavesClaims = true;
    }
    return { claims, releases, handovers, expected, impending, leavesClaims, wanted: owned };
  }

  #lookWhoClaims({ rows, nowMs }: SlotView): void {
    for (const { slot, owner, epoch } of rows.values()) {
      if (owner === undefined || this.#epochs.get(slot) === epoch) continue;
      this.#epochs.set(slot, epoch);
      this.#claimedAtMs.set(owner, nowMs);
    }
  }

  #rank(names: readonly string[]): void {
    const sorted = [...names].sort();
    if (isDeepStrictEqual(sorted, this.#names)) return;
    this.#names = sorted;
    this.#ranks = Array.from({ length: this.#slots }, (_, slot) => rankShards(names, slot));
  }

  #since(slot: number, row: SlotRow | undefined, claimable: Claimable, nowMs: number): number {
    const key = `${claimable}/${row?.epoch ?? 0}`;
    const known = this.#claimable.get(slot);
    if (known?.key === key) return known.sinceMs;
    this.#claimable.set(slot, { key, sinceMs: nowMs });
    return nowMs;
  }
}

function claimableAs(
  row: SlotRow | undefined,
  incarnation: string,
  states: ReadonlyMap<string, MemberRow['state']>,
): Claimable | undefined {
  if (row === undefined) return 'unclaimed';
  if (row.owner === undefined) return 'released';
  if (row.owner === incarnation) return 'mine';
  const state = states.get(row.owner);
  // A read confirms a missing row before the claim, just as it confirms a death.
  return state === undefined || state === 'dead' ? 'dead' : undefined;
}

function waitMs(claimable: Claimable, rank: number): number {
  if (claimable === 'mine') return 0;
  return rank * (claimable === 'released' ? RELEASED_RANK_WAIT_MS : RANK_WAIT_MS);
}
