// The order in which slots read back operation ids from the log: that of their openings. Invariant: what they read at
// once stays within a part of the memory for operation ids. If that is short, all but the first give back what they
// hold and start again after it, so that no slot waits for memory that another waiting slot holds.

/** About what one rebuild holds of the log at once: one read of it. */
export const REBUILD_READ_BYTES = 1024 * 1024;
/** Maximum of slots that read back at once; their reads take a quarter of the memory for operation ids. */
const REBUILDS_MAX = 16;
const READS_SHARE = 4;

/** The place of one slot in the queue. */
export interface RebuildPlace {
  /** Whether every earlier slot is done. This one may then keep its memory while it waits for capacity. */
  readonly isFirst: boolean;
  /**
   * Resolves when this slot may begin, with `first` only when every earlier slot is done; or when it has left the
   * queue.
   */
  turn(options: { readonly first: boolean }): Promise<void>;
  /** The slot is done, or no longer needs its turn. */
  leave(): void;
}

export class RebuildQueue {
  readonly #atOnceMax: number;
  readonly #places = new Set<RebuildPlace>();
  #waiters: (() => void)[] = [];

  /** `bytesMax`: the memory for all operation ids. */
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
