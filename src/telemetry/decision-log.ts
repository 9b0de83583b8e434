// The decision log: a record of the answers of checks, for later audits. It samples requests and passes their decisions
// to a sink, one batch at a time. Invariants: no check ever waits for it; the bytes of decisions that wait or are being
// delivered are bounded, and dropped decisions are counted; a record contains no secret.

import type { Clock, Random, Timer } from '../core/async/clock.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** One answered check. */
export interface Decision {
  readonly requestId: string;
  /** Its place in a bulk check. */
  readonly index: number;
  readonly tenantId: string;
  /** Never the key itself. */
  readonly keyId: string;
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  readonly authorized: boolean;
  /** Why it was denied, in one sentence. Absent: it was not, or nobody asked. */
  readonly reason?: string;
  /** When it held, by the owner's clock; wall clock, ms. */
  readonly checkedAtMs: number;
  /** When it was answered, by the clock of this process. */
  readonly answeredAtMs: number;
}

/** The port through which the rest of the program records decisions. */
export interface DecisionRecorder {
  /** Draws whether the decisions of one request of this tenant are recorded: all of them, or none. */
  takes(tenantId: string): boolean;
  /** `reasonOf`: asks why, of a denial; called for a share of them. */
  record(decision: Decision, reasonOf?: () => Promise<string>): void;
}

/** The destination of decisions. */
export interface DecisionSink {
  /** Resolves once all are delivered; rejects if any was lost. Called again only after that. */
  deliver(decisions: readonly Decision[]): Promise<void>;
  close(): Promise<void>;
}

export interface DecisionLogOptions {
  /** The share of requests whose decisions are recorded, 0 to 1. */
  readonly rate: number;
  /** Tenants whose decisions are all recorded. */
  readonly tenants: readonly string[];
  /** The share of recorded denials that get a reason, 0 to 1, as far as the bounds allow. */
  readonly explained: number;
}

/** Some seconds of decisions while the sink is unavailable: about 13,000 of short identifiers. */
export const DECISION_BYTES_MAX = 8 * 1024 * 1024;
/** Bytes of a waiting decision besides its identifiers, which take up to two each character. */
const FRAME_BYTES = 500;
/** Encoded in a millisecond or two. */
export const DECISIONS_PER_BATCH = 500;
/** How long a decision waits for others. */
const GATHER_MS = 200;
/** How long the process waits for the sink when it stops. */
const CLOSE_MS_MAX = 2000;

/** A reason costs the owner about a millisecond: so many a second of one process are lost among its checks. */
export const REASONS_PER_SECOND_MAX = 10;
const REASONS_AT_ONCE_MAX = 2;
/** Characters of a reason. */
const REASON_LENGTH_MAX = 2000;

const bytesOf = ({ subject, relation, object, reason = '' }: Decision): number =>
  FRAME_BYTES + 2 * (subject.length + relation.length + object.length + reason.length);

/** Uniform from 0 to 1: a xorshift of 32 bits, far cheaper than random bytes for each request. */
function createDraw(random: Random): () => number {
  let state = Buffer.from(random.bytes(4)).readUInt32LE() || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 0x1_0000_0000;
  };
}

export class DecisionLog implements DecisionRecorder {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #sink: DecisionSink;
  readonly #rate: number;
  readonly #tenants: ReadonlySet<string>;
  readonly #explained: number;
  readonly #draw: () => number;
  readonly #count: (outcome: 'delivered' | 'failed' | 'dropped', decisions: number) => void;
  #waiting: Decision[] = [];
  /** Bytes of the decisions that wait or are being delivered. */
  #bytes = 0;
  #delivery: Promise<void> | undefined;
  #timer: Timer | undefined;
  #failing = false;
  #closed = false;
  #explaining = 0;
  #secondStartedMs = Number.NEGATIVE_INFINITY;
  #explainedInSecond = 0;

  constructor(
    dependencies: { readonly clock: Clock; readonly random: Random; readonly log: Log; readonly metrics: Metrics },
    sink: DecisionSink,
    { rate, tenants, explained }: DecisionLogOptions,
  ) {
    const { clock, random, log, metrics } = dependencies;
    this.#clock = clock;
    this.#log = log;
    this.#sink = sink;
    this.#rate = rate;
    this.#tenants = new Set(tenants);
    this.#explained = explained;
    this.#draw = createDraw(random);
    this.#count = (outcome, decisions) => metrics.decisionLogRecords.inc({ outcome }, decisions);
  }

  takes(tenantId: string): boolean {
    return this.#draw() < this.#rate || this.#tenants.has(tenantId);
  }

  record(decision: Decision, reasonOf?: () => Promise<string>): void {
    if (reasonOf === undefined || !this.#mayExplain()) {
      this.#keep(decision);
      return;
    }
    this.#explaining += 1;
    const keep = (reason: string): void => {
      this.#explaining -= 1;
      this.#keep(reason === '' ? decision : { ...decision, reason: reason.slice(0, REASON_LENGTH_MAX).toWellFormed() });
    };
    reasonOf().then(keep, () => keep(''));
  }

  #mayExplain(): boolean {
    if (this.#explained === 0 || this.#explaining >= REASONS_AT_ONCE_MAX || this.#draw() >= this.#explained)
      return false;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#secondStartedMs >= 1000) {
      this.#secondStartedMs = nowMs;
      this.#explainedInSecond = 0;
    }
    this.#explainedInSecond += 1;
    return this.#explainedInSecond <= REASONS_PER_SECOND_MAX;
  }

  #keep(decision: Decision): void {
    const bytes = bytesOf(decision);
    if (this.#closed || this.#bytes + bytes > DECISION_BYTES_MAX) {
      this.#count('dropped', 1);
      return;
    }
    this.#bytes += bytes;
    this.#waiting.push(decision);
    this.#schedule();
  }

  /** Delivers what waits, for a bounded time. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    let timer: Timer | undefined;
    const late = new Promise<void>((resolve) => {
      timer = this.#clock.setTimer(resolve, CLOSE_MS_MAX);
    });
    await Promise.race([this.#flush(), late]);
    timer?.cancel();
    this.#count('dropped', this.#waiting.length);
    this.#waiting = [];
    await this.#sink.close();
  }

  #schedule(): void {
    if (this.#delivery !== undefined || this.#closed) return;
    const delayMs = this.#waiting.length >= DECISIONS_PER_BATCH ? 0 : GATHER_MS;
    if (this.#timer !== undefined && delayMs > 0) return;
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimer(() => {
      this.#timer = undefined;
      this.#begin();
    }, delayMs);
  }

  #begin(): void {
    if (this.#delivery !== undefined) return;
    this.#delivery = this.#deliver().then(() => {
      this.#delivery = undefined;
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  async #flush(): Promise<void> {
    await this.#delivery;
    while (this.#waiting.length > 0) await this.#deliver();
  }

  async #deliver(): Promise<void> {
    const batch = this.#waiting.splice(0, DECISIONS_PER_BATCH);
    let failure: unknown;
    try {
      await this.#sink.deliver(batch);
    } catch (error) {
      failure = error;
    }
    const delivered = failure === undefined;
    this.#count(delivered ? 'delivered' : 'failed', batch.length);
    for (const decision of batch) this.#bytes -= bytesOf(decision);
    if (!delivered && !this.#failing) {
      const reason = failure instanceof Error ? failure.message : String(failure);
      this.#log.warn({ reason }, 'decisions cannot be delivered; dropping them');
    } else if (delivered && this.#failing) {
      this.#log.info('decisions are delivered again');
    }
    this.#failing = !delivered;
  }
}
