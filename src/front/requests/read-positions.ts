// How far the logs of tenants are, as their owners say: what a reader must have applied before it answers (the read
// index of Raft, https://raft.github.io/raft.pdf, 6.4). One question serves all flights of a tenant that gather while
// the one before it is in flight. Invariant: a flight gets the answer to a question that left after the flight had
// come.

import type { Turns } from '../../core/async/turns.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import type { Reply__Output } from '../../rpc/gen/grantd/v1/Reply.ts';
import type { LogPosition } from '../../shard/shard.ts';
import type { Route } from '../links/route.ts';
import type { Flight } from './flights.ts';
import { ShardQuestion } from './shard-question.ts';

class TenantPositions {
  readonly #turns: Turns;
  readonly #tenantId: string;
  readonly #onIdle: () => void;
  /** They may still join the question, which leaves at the end of this turn of the event loop. */
  #leaving: Flight[] | undefined;
  #waiting: Flight[] = [];
  #isAsking = false;

  constructor(turns: Turns, tenantId: string, onIdle: () => void) {
    this.#turns = turns;
    this.#tenantId = tenantId;
    this.#onIdle = onIdle;
  }

  join(route: Route, flight: Flight): void {
    if (this.#leaving !== undefined) this.#leaving.push(flight);
    else if (this.#isAsking) this.#waiting.push(flight);
    else this.#ask(route, [flight]);
  }

  #ask(route: Route, flights: Flight[]): void {
    this.#isAsking = true;
    this.#leaving = flights;
    // Before the link sends what has gathered.
    this.#turns.atEnd(() => this.#left(flights));
    const question = new ShardQuestion(
      (reply) => this.#end(route, flights, this.#positionOf(reply)),
      () => this.#end(route, flights, undefined),
    );
    const body = CALLS.readPosition.toWire({ tenantId: this.#tenantId });
    const [first] = flights;
    if (first !== undefined) question.ask(route.link, body, first.control.clock, first.context.span);
  }

  #positionOf(reply: Reply__Output): LogPosition | undefined {
    try {
      const position = CALLS.readPosition.answerOf(reply, { tenantId: this.#tenantId });
      return position.tenantId === this.#tenantId ? position : undefined;
    } catch {
      return undefined;
    }
  }

  #left(flights: Flight[]): void {
    if (this.#leaving === flights) this.#leaving = undefined;
  }

  #end(route: Route, flights: Flight[], position: LogPosition | undefined): void {
    this.#left(flights);
    this.#isAsking = false;
    const waiting = this.#waiting.filter(({ settled }) => !settled);
    this.#waiting = [];
    if (waiting.length > 0) this.#ask(route, waiting);
    else this.#onIdle();
    for (const flight of flights) {
      if (position === undefined) flight.onlyAtOwner = true;
      flight.position = position;
      flight.attempt();
    }
  }
}

export class ReadPositions {
  readonly #turns: Turns;
  readonly #tenants = new Map<string, TenantPositions>();

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** Makes the flight's next attempt with the position, or without any at the owner. */
  ask(route: Route, tenantId: string, flight: Flight): void {
    let positions = this.#tenants.get(tenantId);
    if (positions === undefined) {
      positions = new TenantPositions(this.#turns, tenantId, () => this.#tenants.delete(tenantId));
      this.#tenants.set(tenantId, positions);
    }
    positions.join(route, flight);
  }
}
