// How far the logs of tenants are, as their owners say: what a reader must have applied before it answers (the read
// index of Raft, https://raft.github.io/raft.pdf, 6.4). One question serves all flights of a tenant that gather while
// the one before it is in flight; and of a busy tenant, those of some milliseconds, so that neither the owner nor the
// readers get a message for each of them. Invariant: a flight gets the answer to a question that left after the flight
// had come, or one whose owner has promised that nobody is shown a commit before the flight has come.
//
// Such a promise (shard/log/quiet-promises.ts) lasts for some ms from the answer. Its window, in which flights use the
// position without a question, is shorter: it begins before the question is handed to the link, so that the owner began
// later, and is less by a tenth, by which the rates of two clocks may differ. It is measured by both clocks of this
// process: while the machine is suspended, the monotonic one stands still. A flight whose key may end meanwhile asks
// anew, since the owner's time decides about that.

import type { Clock, Timer } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import type { ReceivedReply } from '../../rpc/messages.ts';
import { QUIET_SLACK_MS, type ReaderPosition } from '../../shard/shard.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { RequestContext } from '../front.ts';
import type { Route } from '../links/routing-table.ts';
import type { ReadCounts } from './reader-reads.ts';
import { ShardQuestion } from './shard-question.ts';

export interface PositionLimits {
  /** The pause between two questions for a busy tenant. */
  readonly gatherMs: number;
  /** With fewer flights in that time a tenant is not busy: waiting would gather little. */
  readonly busyFlights: number;
  /** Beyond so many tenants, those that wait for nothing are forgotten. */
  readonly tenantsMax: number;
}

export const POSITION_LIMITS: PositionLimits = Object.freeze({ gatherMs: 4, busyFlights: 12, tenantsMax: 1000 });

/** Of a promise, so that it is over by the owner's clock only after the window is by that of this process. */
const WINDOW_SHARE = 0.9;
/** Two readings of the wall clock, which tells whole milliseconds, against one of the monotonic clock. */
const WALL_STEP_MS = 1;

/** Before a question left. */
interface AskedTime {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** A position that serves every flight that comes within the window of its promise. */
class QuietPosition {
  readonly position: ReaderPosition;
  /** Flights that it served. */
  served = 0;
  readonly #route: Route;
  readonly #asked: AskedTime;
  readonly #windowMs: number;

  constructor(position: ReaderPosition, route: Route, asked: AskedTime) {
    this.position = position;
    this.#route = route;
    this.#asked = asked;
    this.#windowMs = WINDOW_SHARE * position.quietMs;
  }

  /** For a flight that is there now. `keyEndsMs`: of its key, by the owner's time. */
  serves({ epoch, link }: Route, clock: Clock, keyEndsMs = Number.POSITIVE_INFINITY): boolean {
    const { nowMs, quietMs } = this.position;
    return (
      this.#isWithin(clock.monotonicMs() - this.#asked.monotonicMs) &&
      this.#isWithin(clock.wallMs() - this.#asked.wallMs) &&
      keyEndsMs > nowMs + quietMs + QUIET_SLACK_MS &&
      this.#route.epoch === epoch &&
      this.#route.link === link
    );
  }

  /** A clock that was set back says nothing. */
  #isWithin(elapsedMs: number): boolean {
    return elapsedMs < this.#windowMs && elapsedMs >= -WALL_STEP_MS;
  }
}

/**
 * What the next try of a flight may use (flights.ts). A reader answers it once it has applied the position. That is for
 * one try: the positions sent to a reader never go back, since it may answer later calls with them.
 */
export type FlightState = 'anywhere' | ReaderPosition | 'owner-only' | 'confirming' | 'settled';

/** A flight that is on its way to a reader. */
export interface ReaderFlight {
  readonly settled: boolean;
  readonly context: RequestContext;
  readonly control: { readonly clock: Clock; readonly metrics: Metrics; readonly reads: ReadCounts };
  state: FlightState;
  attempt(): void;
}

class TenantPositions {
  readonly #turns: Turns;
  readonly #limits: PositionLimits;
  readonly #tenantId: string;
  /** They may still join the question, which leaves at the end of this turn of the event loop. */
  #leaving: ReaderFlight[] | undefined;
  /** For the next question. */
  #waiting: ReaderFlight[] = [];
  #isAsking = false;
  /** The last answer. */
  #quiet: QuietPosition | undefined;
  #timer: Timer | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** Flights that have come since then, and in the time of the same length before. */
  #sinceMs = 0;
  #came = 0;
  #cameBefore = 0;

  constructor(turns: Turns, limits: PositionLimits, tenantId: string) {
    this.#turns = turns;
    this.#limits = limits;
    this.#tenantId = tenantId;
  }

  get idle(): boolean {
    return !this.#isAsking && this.#timer === undefined;
  }

  take(route: Route, flight: ReaderFlight, keyEndsMs: number | undefined): ReaderPosition | undefined {
    const { clock } = flight.control;
    if (this.#quiet?.serves(route, clock, keyEndsMs) === true) {
      this.#quiet.served += 1;
      return this.#quiet.position;
    }
    this.#join(route, flight, clock.monotonicMs());
    return undefined;
  }

  #join(route: Route, flight: ReaderFlight, nowMs: number): void {
    this.#count(nowMs);
    if (this.#leaving !== undefined) {
      this.#leaving.push(flight);
      return;
    }
    this.#waiting.push(flight);
    if (!this.#isAsking) this.#askSoon(route, flight.control.clock, nowMs);
  }

  #count(nowMs: number): void {
    const { gatherMs } = this.#limits;
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs >= gatherMs) {
      this.#cameBefore = elapsedMs < 2 * gatherMs ? this.#came : 0;
      this.#came = 0;
      this.#sinceMs = nowMs;
    }
    this.#came += 1;
  }

  #askSoon(route: Route, clock: Clock, nowMs: number): void {
    if (this.#timer !== undefined) return;
    const { gatherMs, busyFlights } = this.#limits;
    const restMs = this.#askedAtMs + gatherMs - nowMs;
    if (restMs <= 0 || Math.max(this.#came, this.#cameBefore) < busyFlights) {
      this.#ask(route, clock, nowMs);
      return;
    }
    this.#timer = clock.setTimer(() => {
      this.#timer = undefined;
      this.#ask(route, clock, clock.monotonicMs());
    }, restMs);
  }

  #ask(route: Route, clock: Clock, nowMs: number): void {
    const flights = this.#waiting.filter(({ settled }) => !settled);
    this.#waiting = [];
    const [first] = flights;
    if (first === undefined) return;
    this.#isAsking = true;
    this.#askedAtMs = nowMs;
    this.#leaving = flights;
    // Before the link sends what has gathered.
    this.#turns.atEnd(() => this.#left(flights));
    const asked = { monotonicMs: nowMs, wallMs: clock.wallMs() };
    const question = new ShardQuestion(
      (reply) => this.#end(route, clock, flights, this.#positionOf(reply, route), asked),
      () => this.#end(route, clock, flights, undefined, asked),
    );
    const body = CALLS.readPosition.toWire({ slot: route.slot, tenantId: this.#tenantId });
    question.ask(route.link, body, clock, first.context.span);
  }

  #positionOf(reply: ReceivedReply, { slot }: Route): ReaderPosition | undefined {
    try {
      const position = CALLS.readPosition.answerOf(reply, { slot, tenantId: this.#tenantId });
      return position.tenantId === this.#tenantId ? position : undefined;
    } catch {
      return undefined;
    }
  }

  #left(flights: ReaderFlight[]): void {
    if (this.#leaving === flights) this.#leaving = undefined;
  }

  #end(
    route: Route,
    clock: Clock,
    flights: ReaderFlight[],
    position: ReaderPosition | undefined,
    asked: AskedTime,
  ): void {
    this.#left(flights);
    this.#isAsking = false;
    if (position !== undefined) this.#keep(new QuietPosition(position, route, asked), flights);
    const isQuiet = position !== undefined && position.quietMs > 0;
    // They have come since the question left: each looks whether the promise is for it as well.
    const waiting = isQuiet ? this.#waiting.splice(0) : [];
    if (this.#waiting.length > 0) this.#askSoon(route, clock, clock.monotonicMs());
    for (const flight of flights) {
      if (flight.settled) continue;
      if (position === undefined) flight.control.reads.unconfirmed += 1;
      flight.state = position ?? 'owner-only';
      flight.attempt();
    }
    for (const flight of waiting) flight.attempt();
  }

  #keep(quiet: QuietPosition, flights: readonly ReaderFlight[]): void {
    const before = this.#quiet;
    quiet.served = flights.length;
    this.#quiet = quiet;
    // How many flights a question served is known once there is a later one.
    if (before !== undefined) flights[0]?.control.metrics.readIndexCalls.observe(before.served);
  }
}

export class ReadPositions {
  readonly #turns: Turns;
  readonly #limits: PositionLimits;
  readonly #tenants = new Map<string, TenantPositions>();

  constructor(turns: Turns, limits = POSITION_LIMITS) {
    this.#turns = turns;
    this.#limits = limits;
  }

  /**
   * The position by which a reader may answer the flight, whose key ends then. Undefined: makes the flight's next
   * attempt later, with a position, or without any at the owner.
   */
  take(
    route: Route,
    tenantId: string,
    flight: ReaderFlight,
    keyEndsMs: number | undefined,
  ): ReaderPosition | undefined {
    let positions = this.#tenants.get(tenantId);
    if (positions === undefined) {
      if (this.#tenants.size >= this.#limits.tenantsMax) this.#forgetIdle();
      positions = new TenantPositions(this.#turns, this.#limits, tenantId);
      this.#tenants.set(tenantId, positions);
    }
    return positions.take(route, flight, keyEndsMs);
  }

  #forgetIdle(): void {
    for (const [tenantId, { idle }] of this.#tenants) if (idle) this.#tenants.delete(tenantId);
  }
}
