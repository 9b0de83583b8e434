// How far the logs of tenants are, as their owners say: what a reader must have applied before it answers (the read
// index of Raft, https://raft.github.io/raft.pdf, 6.4). One question serves all flights of a tenant that gather while
// the one before it is in flight; and of a busy tenant, those of some milliseconds, so that neither the owner nor the
// readers get a message for each of them. Invariant: a flight gets the answer to a question that left after the flight
// had come.

import type { Clock, Timer } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import type { ReceivedReply } from '../../rpc/messages.ts';
import type { ReaderPosition } from '../../shard/shard.ts';
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

  join(route: Route, flight: ReaderFlight): void {
    const nowMs = flight.control.clock.monotonicMs();
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
    const question = new ShardQuestion(
      (reply) => this.#end(route, clock, flights, this.#positionOf(reply, route)),
      () => this.#end(route, clock, flights, undefined),
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

  #end(route: Route, clock: Clock, flights: ReaderFlight[], position: ReaderPosition | undefined): void {
    this.#left(flights);
    this.#isAsking = false;
    if (this.#waiting.length > 0) this.#askSoon(route, clock, clock.monotonicMs());
    if (position !== undefined) flights[0]?.control.metrics.readIndexCalls.observe(flights.length);
    for (const flight of flights) {
      if (flight.settled) continue;
      if (position === undefined) flight.control.reads.unconfirmed += 1;
      flight.state = position ?? 'owner-only';
      flight.attempt();
    }
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

  /** Makes the flight's next attempt with the position, or without any at the owner. */
  ask(route: Route, tenantId: string, flight: ReaderFlight): void {
    let positions = this.#tenants.get(tenantId);
    if (positions === undefined) {
      if (this.#tenants.size >= this.#limits.tenantsMax) this.#forgetIdle();
      positions = new TenantPositions(this.#turns, this.#limits, tenantId);
      this.#tenants.set(tenantId, positions);
    }
    positions.join(route, flight);
  }

  #forgetIdle(): void {
    for (const [tenantId, { idle }] of this.#tenants) if (idle) this.#tenants.delete(tenantId);
  }
}
