// Looks at the cluster for the pages that show it: what it finds is shared by all who ask within a second, and what has
// changed between two looks is kept as moves. It looks only when somebody asks, so a move that happened while nobody did
// is seen at the next look, as one step from then to now.

import type { Clock } from '../core/clock.ts';
import type { MemberView, OperatorApi, RequestContext, ShardLoad, SlotView } from '../front/front.ts';

/** Pages renew themselves every two seconds, however many are open. */
const LOOK_AGE_MS_MAX = 1000;
const MOVES_MAX = 20;
/** Some two minutes of an open page. */
const RATES_MAX = 60;
/** Each name that ever owned a slot keeps its colour; far above what a cluster has. */
const COLOURS_MAX = 4096;

/** Slots that went from one owner to another between two looks. */
export interface Move {
  readonly atMs: number;
  /** Ascending. */
  readonly slots: readonly number[];
  /** Undefined: no owner. */
  readonly from: string | undefined;
  readonly to: string | undefined;
}

export interface Look {
  /** On the wall clock. */
  readonly atMs: number;
  readonly slots: readonly SlotView[];
  /** Undefined where it could not be asked now. */
  readonly members: readonly MemberView[] | undefined;
  readonly loads: readonly ShardLoad[] | undefined;
  /** Newest first. */
  readonly moves: readonly Move[];
  /** Checks per second of the whole cluster at the looks up to this one, oldest first; undefined where not known. */
  readonly rates: readonly { readonly atMs: number; readonly checksPerSecond: number | undefined }[];
  /** Shard name → a number from 0 up that stays its own. */
  readonly colours: ReadonlyMap<string, number>;
}

const optional = <Value>(promise: Promise<Value>): Promise<Value | undefined> => promise.catch(() => undefined);

export class ClusterWatch {
  readonly #operator: OperatorApi;
  readonly #clock: Clock;
  #current: { readonly startedMs: number; readonly look: Promise<Look> } | undefined;
  #owners: ReadonlyMap<number, string | undefined> | undefined;
  #moves: readonly Move[] = [];
  #rates: Look['rates'] = [];
  readonly #colours = new Map<string, number>();

  constructor(dependencies: { readonly operator: OperatorApi; readonly clock: Clock }) {
    this.#operator = dependencies.operator;
    this.#clock = dependencies.clock;
  }

  /** Rejects where no shard answers. */
  look(context: RequestContext): Promise<Look> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#current !== undefined && nowMs - this.#current.startedMs < LOOK_AGE_MS_MAX) return this.#current.look;
    const look = this.#take(context);
    const current = { startedMs: nowMs, look };
    this.#current = current;
    look.catch(() => {
      // The next who asks tries again.
      if (this.#current === current) this.#current = undefined;
    });
    return look;
  }

  async #take(context: RequestContext): Promise<Look> {
    const [slots, members, loads] = await Promise.all([
      this.#operator.listSlots(context),
      optional(this.#operator.listMembers(context)),
      optional(this.#operator.listLoads(context)),
    ]);
    const atMs = this.#clock.wallMs();
    this.#noteMoves(slots, atMs);
    const names = [...(members ?? []).map(({ shardName }) => shardName), ...slots.map(({ shardName }) => shardName)];
    for (const name of new Set(names)) {
      if (name === undefined || this.#colours.has(name) || this.#colours.size >= COLOURS_MAX) continue;
      this.#colours.set(name, this.#colours.size);
    }
    const checksPerSecond = loads?.reduce((sum, load) => sum + load.checksPerSecond, 0);
    this.#rates = [...this.#rates, { atMs, checksPerSecond }].slice(-RATES_MAX);
    return { atMs, slots, members, loads, moves: this.#moves, rates: this.#rates, colours: new Map(this.#colours) };
  }

  #noteMoves(slots: readonly SlotView[], atMs: number): void {
    const owners = new Map(slots.map(({ slot, shardName }) => [slot, shardName]));
    const before = this.#owners;
    this.#owners = owners;
    if (before === undefined) return;
    const moved = slots.filter(({ slot, shardName }) => before.has(slot) && before.get(slot) !== shardName);
    const groups = Map.groupBy(moved, ({ slot, shardName }) => JSON.stringify([before.get(slot), shardName]));
    const moves = [...groups.values()].map((group) => {
      const first = group[0]?.slot ?? 0;
      return { atMs, slots: group.map(({ slot }) => slot), from: before.get(first), to: owners.get(first) };
    });
    if (moves.length > 0) this.#moves = [...moves, ...this.#moves].slice(0, MOVES_MAX);
  }
}
