// Asks every shard for its slots, and one of them for the members. Invariants: a listing completes within a bounded
// time if at least one shard replies; a shard that does not reply is shown as such, and hides nothing of the others.

import { GrantdError } from '../../core/errors.ts';
import type { AnswerOf, ClusterMember, SlotClaim, SlotStatus, SlotsReport } from '../../shard/shard.ts';
import type { ClusterPicture, MemberView, ReaderView, RequestContext, ShardLoad, SlotView } from '../front.ts';
import type { ShardLink } from '../links/shard-link.ts';
import { askShard } from '../requests/flight-paths.ts';
import { type FlightControl, pauseBetweenTries } from '../requests/flights.ts';

/** Bound of one call to one shard, which replies from memory or after one scan of its store. */
const QUESTION_MS_MAX = 1000;
/** Shards that are asked for the members, one after the other. */
const MEMBER_TRIES_MAX = 2;

interface SlotReplies {
  readonly reports: readonly ShardReport[];
  /** The shards that have just replied. */
  readonly links: readonly ShardLink[];
}

export class ClusterSurvey {
  readonly #control: FlightControl;
  readonly #readyLinks: () => readonly ShardLink[];

  constructor(control: FlightControl, readyLinks: () => readonly ShardLink[]) {
    this.#control = control;
    this.#readyLinks = readyLinks;
  }

  async slots(context: RequestContext): Promise<readonly SlotView[]> {
    const { reports, links } = await this.#askSlots(context);
    // Without the members, which a shard reads from the store, only the addresses of absent owners are missing.
    const members = await this.#askMembers(context, links);
    return mergeSlots(this.#control.routing.slots, reports, members ?? []);
  }

  async members(context: RequestContext): Promise<readonly MemberView[]> {
    for (let tries = 0; ; tries += 1) {
      const { reports, links } = await this.#askSlots(context);
      const members = await this.#askMembers(context, links);
      if (members !== undefined) {
        return mergeMembers(members, reports, mergeSlots(this.#control.routing.slots, reports, members));
      }
      await pauseBetweenTries(this.#control, context, tries);
    }
  }

  /** Everything with one call of each kind: each shard gets two calls, and one shard a third for the members. */
  async picture(context: RequestContext): Promise<ClusterPicture> {
    const [{ reports, members }, loads] = await Promise.all([
      this.#askSlots(context).then(async ({ reports, links }) => ({
        reports,
        members: await this.#askMembers(context, links),
      })),
      this.loads(context).catch(() => undefined),
    ]);
    const slots = mergeSlots(this.#control.routing.slots, reports, members ?? []);
    return { slots, members: members && mergeMembers(members, reports, slots), loads };
  }

  /** Loads of the shards that reply in time. */
  async loads(context: RequestContext): Promise<readonly ShardLoad[]> {
    const answers = await Promise.all(this.#readyLinks().map((link) => this.#ask(context, link, 'readLoad')));
    const loads: ShardLoad[] = [];
    for (const answer of answers) {
      if (answer === undefined) continue;
      if (answer instanceof GrantdError) {
        if (answer.retryable) continue;
        throw answer;
      }
      loads.push(answer);
    }
    return loads.sort((left, right) => (left.shardName < right.shardName ? -1 : 1));
  }

  /** The reports of all shards that reply in time; at least one. */
  async #askSlots(context: RequestContext): Promise<SlotReplies> {
    for (let tries = 0; ; tries += 1) {
      const asked = this.#readyLinks();
      const answers = await Promise.all(asked.map((link) => this.#ask(context, link, 'listSlots')));
      const reports: ShardReport[] = [];
      const links: ShardLink[] = [];
      for (const [index, answer] of answers.entries()) {
        const link = asked[index];
        if (link === undefined || answer === undefined || answer instanceof GrantdError) continue;
        reports.push({ ...answer, address: link.address });
        links.push(link);
      }
      if (reports.length > 0) return { reports, links };
      const refusal = answers.find((answer) => answer instanceof GrantdError && !answer.retryable);
      if (refusal instanceof GrantdError) throw refusal;
      await pauseBetweenTries(this.#control, context, tries);
    }
  }

  /** Undefined if no shard can read them now. */
  async #askMembers(
    context: RequestContext,
    links: readonly ShardLink[],
  ): Promise<readonly ClusterMember[] | undefined> {
    for (const link of links.slice(0, MEMBER_TRIES_MAX)) {
      const answer = await this.#ask(context, link, 'listMembers');
      if (answer !== undefined && !(answer instanceof GrantdError)) return answer;
    }
    return undefined;
  }

  /** Undefined: the shard cannot reply now. */
  async #ask<Name extends 'listSlots' | 'listMembers' | 'readLoad'>(
    context: RequestContext,
    link: ShardLink,
    name: Name,
  ): Promise<AnswerOf<Name> | GrantdError | undefined> {
    const deadlineMs = Math.min(context.deadlineMs, this.#control.clock.monotonicMs() + QUESTION_MS_MAX);
    return askShard(this.#control, link, { ...context, deadlineMs }, name, undefined).catch((error: unknown) => {
      if (error instanceof GrantdError) return error;
      throw error;
    });
  }
}

// ---- the view ----
//
// Merges what each shard says about itself, and the rows it has seen, into one view of the cluster. Invariants: for
// each slot the highest epoch that any shard has seen counts, and only the owner of that epoch says which state the
// slot is in; what no shard could say stays undefined and is never guessed.

export interface ShardReport extends SlotsReport {
  /** The address under which it was asked. */
  readonly address: string;
}

type Owner = Pick<SlotView, 'incarnation' | 'shardName' | 'address' | 'leaseLeftMs'>;

const NOT_KNOWN = {
  logEnd: undefined,
  checkpoint: undefined,
  tenants: undefined,
} as const;
const NO_OWNER: Owner = {
  incarnation: undefined,
  shardName: undefined,
  address: undefined,
  leaseLeftMs: undefined,
};

/** An epoch begins with a claim and may end with a release: at the same epoch the release is the later row. */
function isLater(row: SlotClaim, than: SlotClaim | undefined): boolean {
  if (than === undefined || row.epoch !== than.epoch) return row.epoch > (than?.epoch ?? -1);
  return row.incarnation === undefined;
}

function readersBySlot(reports: readonly ShardReport[]): ReadonlyMap<number, readonly ReaderView[]> {
  const readers = reports.flatMap(({ shardName, readers: of }) => of.map((reader) => ({ ...reader, shardName })));
  const place = ({ tenantId, shardName }: ReaderView): string => `${tenantId} ${shardName}`;
  readers.sort((left, right) => (place(left) < place(right) ? -1 : 1));
  const bySlot = new Map<number, ReaderView[]>();
  for (const { slot, ...reader } of readers) {
    const others = bySlot.get(slot);
    if (others === undefined) bySlot.set(slot, [reader]);
    else others.push(reader);
  }
  return bySlot;
}

/** Every slot of the cluster, ascending. */
export function mergeSlots(
  slots: number,
  reports: readonly ShardReport[],
  members: readonly ClusterMember[],
): readonly SlotView[] {
  const reportOf = new Map(reports.map((report) => [report.incarnation, report]));
  const memberOf = new Map(members.map((member) => [member.incarnation, member]));
  const rows = new Map<number, SlotClaim>();
  const statuses = new Map<number, { status: SlotStatus; report: ShardReport }>();
  for (const report of reports) {
    for (const row of report.owners) if (isLater(row, rows.get(row.slot))) rows.set(row.slot, row);
    for (const status of report.owned) {
      const seen = statuses.get(status.slot);
      if (seen === undefined || seen.status.epoch < status.epoch) statuses.set(status.slot, { status, report });
    }
  }

  const ownerOf = (incarnation: string): Owner => {
    const member = memberOf.get(incarnation);
    const report = reportOf.get(incarnation);
    return {
      incarnation,
      shardName: report?.shardName ?? member?.shardName,
      address: member?.address ?? report?.address,
      leaseLeftMs: report?.leaseLeftMs,
    };
  };

  const readersOf = readersBySlot(reports);
  return Array.from({ length: slots }, (_, slot): SlotView => {
    const readers = readersOf.get(slot) ?? [];
    const row = rows.get(slot);
    const live = statuses.get(slot);
    // An owner that has not yet heard of a later claim does not count.
    if (live !== undefined && live.status.epoch >= (row?.epoch ?? 0)) {
      return { ...live.status, ...ownerOf(live.report.incarnation), readers };
    }
    const unknown = { slot, readers, ...NOT_KNOWN };
    if (row === undefined) return { ...unknown, state: 'unclaimed', epoch: undefined, ...NO_OWNER };
    const { epoch, incarnation } = row;
    if (incarnation === undefined) return { ...unknown, state: 'unowned', epoch, ...NO_OWNER };
    // The owner replied but has not begun with the slot: it has only just claimed it.
    const state = reportOf.has(incarnation) ? 'opening' : 'unreachable';
    return { ...unknown, state, epoch, ...ownerOf(incarnation) };
  });
}

export function mergeMembers(
  members: readonly ClusterMember[],
  reports: readonly ShardReport[],
  slots: readonly SlotView[],
): readonly MemberView[] {
  const leases = new Map(reports.map(({ incarnation, leaseLeftMs }) => [incarnation, leaseLeftMs]));
  const owned = new Map<string, number>();
  for (const { incarnation } of slots) {
    if (incarnation !== undefined) owned.set(incarnation, (owned.get(incarnation) ?? 0) + 1);
  }
  return members.map((member) => ({
    ...member,
    leaseLeftMs: leases.get(member.incarnation),
    slotsOwned: owned.get(member.incarnation) ?? 0,
  }));
}
