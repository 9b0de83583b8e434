// Slots that read operation ids back from the log, in the order of their openings. It keeps: what they read at once
// stays within a part of the memory of operation ids; and where that is short, all but the first give back what they
// have and begin again behind it, so that none waits for capacity that another waiting one holds.

/** What a rebuild has in memory of the log at once, about: one read of it. */
export const REBUILD_READ_BYTES = 1024 * 1024;
/** Slots that read back at once, at most; what they read takes a quarter of the memory of operation ids. */
const REBUILDS_MAX = 16;
const READS_SHARE = 4;

/** Of one slot. */
export interface RebuildPlace {
  /** Whether every slot before it is done: it may keep what it has while it waits for capacity. */
  readonly isFirst: boolean;
  /** Resolves when it may begin, with `first` when every slot before it is done; or when it has left. */
  turn(options: { readonly first: boolean }): Promise<void>;
  /** It is done, or nobody waits for it any more. */
  leave(): void;
}

export class RebuildQueue {
  readonly #atOnceMax: number;
  readonly #places = new Set<RebuildPlace>();
  #waiters: (() => void)[] = [];

  /** `bytesMax`: of all operation ids. */
  constructor(bytesMax: number) {
    const fitting = Math.floor(bytesMax / READS_SHARE / REBUILD_READ_BYTES);
    this.#atOnceMax = Math.min(Math.max(fitting, 1), REBUILDS_MAX);
  }

  /** Slots that are not done. */
  get size(): number {
    return this.#places.size;
  }

  enter(): RebuildPlace {
    const isBefore = (countMax: number): boolean => {
      let before = 0;
      for (const each of this.#places) {
        if (each === place || before === countMax) return before < countMax;
        before += 1;
      }
      return true;
    };
    const place: RebuildPlace = {
      get isFirst() {
        return isBefore(1);
      },
      turn: async ({ first }) => {
        while (this.#places.has(place) && !isBefore(first ? 1 : this.#atOnceMax)) {
          await new Promise<void>((resolve) => {
            this.#waiters.push(resolve);
          });
        }
      },
      leave: () => {
        if (!this.#places.delete(place)) return;
        const waiters = this.#waiters;
        this.#waiters = [];
        for (const resolve of waiters) resolve();
      },
    };
    this.#places.add(place);
    return place;
  }
}
