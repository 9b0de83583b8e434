// How many enumerations (exports, pages of logs and of tenants) a shard runs at once for all its peers, and for one of
// them: each holds what it has read until its peer takes it. Invariants: those beyond wait in the order of their peer,
// and peers take turns; nothing starts for a peer that does not take its replies; a peer that has gone holds no place.

/** A page is up to 2 MiB, and about as much again while it is read. */
const RUNNING_MAX = 32;
/** A console runs several exports of people side by side. */
const RUNNING_PER_PEER_MAX = 8;

export interface PeerEnumerations {
  /** Runs `start` at once, or when a place is free. Each has to be ended once. */
  enter(start: () => void): void;
  end(): void;
  /** The peer takes its replies again. */
  resume(): void;
  /** The peer has gone: what waits never starts. */
  close(): void;
}

interface Share {
  readonly takesReplies: () => boolean;
  waiting: (() => void)[];
  running: number;
  closed: boolean;
}

export class EnumerationGate {
  #running = 0;
  /** Those that wait, in the order of their turns. */
  readonly #waiting = new Set<Share>();

  /** `takesReplies`: whether the peer takes what it has asked for. */
  connect(takesReplies: () => boolean): PeerEnumerations {
    const share: Share = { takesReplies, waiting: [], running: 0, closed: false };
    return {
      enter: (start) => {
        share.waiting.push(start);
        this.#waiting.add(share);
        this.#startNext();
      },
      end: () => {
        if (share.closed) return;
        share.running -= 1;
        this.#running -= 1;
        this.#startNext();
      },
      resume: () => {
        if (share.waiting.length > 0) this.#startNext();
      },
      close: () => {
        share.closed = true;
        share.waiting = [];
        this.#waiting.delete(share);
        this.#running -= share.running;
        this.#startNext();
      },
    };
  }

  #startNext(): void {
    for (const share of this.#waiting) {
      if (this.#running >= RUNNING_MAX) return;
      if (share.running >= RUNNING_PER_PEER_MAX || !share.takesReplies()) continue;
      const start = share.waiting.shift();
      this.#waiting.delete(share);
      if (start === undefined) continue;
      // To the back: the loop meets it again once the others had their turns.
      if (share.waiting.length > 0) this.#waiting.add(share);
      share.running += 1;
      this.#running += 1;
      start();
    }
  }
}
