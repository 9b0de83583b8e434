// Sends statements to Cassandra at one of four levels, each with a deadline that holds whatever the driver does. A
// conditional write is sent once, and its outcome is the response or unknown. A read or a plain write (stamped, so that
// applying it twice changes nothing) moves on to another node if the first is late. Both calls in flight and waiting
// calls are bounded.

import type { Client, QueryOptions } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import type { Clock, Timer } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { DeadlineMs, StoreClock } from '../../store.ts';
import { isSchemaMissing, isSchemaUnknown, reasonOf, SchemaMissing, SchemaUnknown, toGrantdError } from './errors.ts';
import { NextHostRetry, type OnHost } from './policies.ts';

const { policies, types } = cassandra;

/** Calls in flight, and waiting calls: a few seconds of work. */
const CALLS = { inFlightMax: 1024, waitingMax: 8192 };
/**
 * Batches of state in flight: enough to keep three nodes busy, few enough to leave capacity for conditional writes. The
 * batches of all slots share one queue.
 */
const STATE_BATCHES = { inFlightMax: 16, waitingMax: 16_384 };
/** The maximum number of nodes that one read or plain write is sent to, one after another. */
const ATTEMPTS_MAX = 3;
const ROWS_PER_PAGE = 2000;
/** Unlike `now()`, it goes back when the clock of the node does. */
const NODE_CLOCK = 'SELECT currentTimestamp() AS wall FROM system.local';

export type Value = string | number | bigint | boolean | Buffer | readonly (string | number)[];

export interface Statement {
  readonly query: string;
  readonly params: readonly Value[];
}

export type Row = cassandra.types.Row;

export interface ConditionalResult {
  readonly applied: boolean;
  readonly row: Row;
}

export interface RowPage {
  readonly rows: readonly Row[];
  /** Where the next page begins; undefined at the end. */
  readonly next: string | undefined;
}

/** The part of the driver that is used. */
export type Driver = Pick<Client, 'execute' | 'batch'>;

export interface ExecutorPorts {
  readonly clock: Clock;
  readonly log: Log;
  /** Read for each call, because another client may have taken over. */
  readonly driver: Driver;
  /** Called before each call to the driver, with the same options object that the driver gets. */
  readonly listen: (options: object, onHost: OnHost) => void;
  /** A call to this node timed out. */
  readonly onTimeout: (host: string) => void;
}

interface Request {
  readonly deadline: DeadlineMs;
  readonly idempotent: boolean;
  readonly gate: Gate;
  readonly options: QueryOptions;
  readonly send: (options: QueryOptions) => Promise<cassandra.types.ResultSet>;
}

export class Executor {
  readonly #ports: ExecutorPorts;
  readonly #failures: FailureLog;
  readonly #calls: Gate;
  readonly #stateBatches: Gate;
  readonly #inFlight: CallsInFlight;
  readonly #serial: number;
  readonly #quorum: number;
  readonly #retry = new NextHostRetry();
  readonly #never = new policies.retry.FallthroughRetryPolicy();
  #closed = false;

  constructor(ports: ExecutorPorts, serialLevel: 'SERIAL' | 'LOCAL_SERIAL') {
    const { clock, log, onTimeout } = ports;
    const { serial, localSerial, quorum, localQuorum } = types.consistencies;
    this.#ports = ports;
    this.#failures = new FailureLog(clock, log);
    this.#calls = new Gate(clock, CALLS);
    this.#stateBatches = new Gate(clock, STATE_BATCHES);
    this.#inFlight = new CallsInFlight(clock, onTimeout);
    this.#serial = serialLevel === 'LOCAL_SERIAL' ? localSerial : serial;
    this.#quorum = serialLevel === 'LOCAL_SERIAL' ? localQuorum : quorum;
  }

  /**
   * A lightweight transaction. Resolves to its result: if it was not applied, `row` has the columns of its condition.
   * Rejects with `unavailable` if its outcome is unknown.
   */
  async conditional(query: string, params: readonly Value[], deadline: DeadlineMs): Promise<ConditionalResult> {
    const { rows } = await this.#run({
      deadline,
      idempotent: false,
      gate: this.#calls,
      options: { consistency: this.#quorum, serialConsistency: this.#serial, retry: this.#never },
      send: (options) => this.#ports.driver.execute(query, [...params], options),
    });
    const [row] = rows;
    if (row === undefined)
      throw new GrantdError('unavailable', 'Cassandra returned no result for a conditional write.');
    return { applied: row['[applied]'] === true, row };
  }

  /** Reads one partition. Sees every conditional write that was confirmed before the read started. */
  readSerial(query: string, params: readonly Value[], deadline: DeadlineMs, page?: PageRequest): Promise<RowPage> {
    return this.#read(query, params, deadline, this.#serial, page);
  }

  /** Sees every plain write that was confirmed before the read started. */
  read(query: string, params: readonly Value[], deadline: DeadlineMs, page?: PageRequest): Promise<RowPage> {
    return this.#read(query, params, deadline, this.#quorum, page);
  }

  /**
   * All rows of a plain read, page by page, so that no response exceeds a few megabytes and the event loop is free in
   * between. The statement or the table bounds their number.
   */
  async readAll(query: string, params: readonly Value[], deadline: DeadlineMs): Promise<readonly Row[]> {
    const rows: Row[] = [];
    let from: string | undefined;
    do {
      const page = { size: ROWS_PER_PAGE, ...(from === undefined ? {} : { from }) };
      const read = await this.read(query, params, deadline, page);
      rows.push(...read.rows);
      from = read.next;
    } while (from !== undefined);
    return rows;
  }

  /** The clock of the node that answers, whichever that is. Its own replica has the row. */
  async readClock(deadline: DeadlineMs): Promise<StoreClock> {
    const { rows, info } = await this.#run({
      deadline,
      idempotent: true,
      gate: this.#calls,
      options: { consistency: types.consistencies.one },
      send: (options) => this.#ports.driver.execute(NODE_CLOCK, [], options),
    });
    const wall: unknown = rows[0]?.wall;
    if (!(wall instanceof Date)) throw new GrantdError('unavailable', 'Cassandra returned no time.');
    return { node: info.queriedHost, wallMs: wall.getTime() };
  }

  /** A stamped write or deletion. */
  async write(query: string, params: readonly Value[], deadline: DeadlineMs): Promise<void> {
    await this.#write(query, params, deadline, this.#quorum);
  }

  /** A stamped deletion. When this resolves, every replica has it. */
  async writeToAll(query: string, params: readonly Value[], deadline: DeadlineMs): Promise<void> {
    await this.#write(query, params, deadline, types.consistencies.all);
  }

  /** Stamped writes of rows, without a transaction. */
  async writeBatch(statements: readonly Statement[], deadline: DeadlineMs): Promise<void> {
    const [first] = statements;
    if (first === undefined) return;
    await this.#run({
      deadline,
      idempotent: true,
      gate: this.#stateBatches,
      options: { consistency: this.#quorum, logged: false },
      send: (options) =>
        statements.length === 1
          ? this.#ports.driver.execute(first.query, [...first.params], options)
          : this.#ports.driver.batch(
              statements.map(({ query, params }) => ({ query, params: [...params] })),
              options,
            ),
    });
  }

  /** Moves calls that wait for this node to another one, if they are safe to repeat. */
  leaveHost(host: string): void {
    this.#inFlight.leaveHost(host);
  }

  /** Ends the calls that still wait for this node with an unknown outcome. */
  giveUpHost(host: string): void {
    this.#failures.note('a node is unresponsive', host);
    this.#inFlight.giveUpHost(host);
  }

  /** Ends every call and refuses new ones. */
  close(): void {
    this.#closed = true;
    this.#calls.close();
    this.#stateBatches.close();
    this.#inFlight.giveUpAll();
  }

  async #read(
    query: string,
    params: readonly Value[],
    deadline: DeadlineMs,
    consistency: number,
    page: PageRequest | undefined,
  ): Promise<RowPage> {
    const result = await this.#run({
      deadline,
      idempotent: true,
      gate: this.#calls,
      options: {
        consistency,
        ...(page === undefined ? {} : { fetchSize: page.size }),
        ...(page?.from === undefined ? {} : { pageState: page.from }),
      },
      send: (options) => this.#ports.driver.execute(query, [...params], options),
    });
    // The driver returns null at the end, despite its types.
    const next: string | null = result.pageState;
    return { rows: result.rows, next: next ?? undefined };
  }

  async #write(query: string, params: readonly Value[], deadline: DeadlineMs, consistency: number): Promise<void> {
    await this.#run({
      deadline,
      idempotent: true,
      gate: this.#calls,
      options: { consistency },
      send: (options) => this.#ports.driver.execute(query, [...params], options),
    });
  }

  async #run(request: Request): Promise<cassandra.types.ResultSet> {
    const { clock } = this.#ports;
    if (this.#closed) throw new GrantdError('unavailable', 'The store is closed.');
    if (request.deadline <= clock.monotonicMs()) {
      throw new GrantdError('unavailable', 'The deadline passed before the call reached the store.');
    }
    await request.gate.enter(request.deadline);
    try {
      const result = await this.#attempt(request);
      this.#failures.recovered();
      return result;
    } catch (error) {
      if (isSchemaMissing(error)) throw new SchemaMissing();
      if (isSchemaUnknown(error)) throw new SchemaUnknown(error);
      // Deadlines are the callers' concern; other errors of the driver are logged.
      if (!(error instanceof GrantdError)) this.#failures.note(reasonOf(error), messageOf(error));
      throw toGrantdError(error);
    } finally {
      request.gate.leave();
    }
  }

  async #attempt(request: Request): Promise<cassandra.types.ResultSet> {
    const { clock, listen } = this.#ports;
    const { deadline } = request;
    for (let attempt = 1; ; attempt += 1) {
      if (this.#closed) throw new GrantdError('unavailable', 'The store is closed.');
      const idempotent = request.idempotent && attempt < ATTEMPTS_MAX;
      const answer = await this.#inFlight.run({ deadline, idempotent }, (onHost) => {
        const options: QueryOptions = {
          prepare: true,
          isIdempotent: request.idempotent,
          retry: this.#retry,
          readTimeout: Math.max(1, Math.ceil(deadline - clock.monotonicMs())),
          ...request.options,
        };
        listen(options, onHost);
        return request.send(options);
      });
      if (answer !== ELSEWHERE) return answer;
    }
  }
}

export interface PageRequest {
  readonly size: number;
  readonly from?: string;
}

/** The rest of the driver's message may contain whole objects. */
const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';

/** A lasting failure is logged again after this time. */
const INTERVAL_MS = 10_000;

export /**
 * Logs failures of the store when they begin, at intervals while they last, and when they end. Not for each call,
 * because an outage has thousands of failed calls.
 */
class FailureLog {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #loggedAtMs = new Map<string, number>();

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** `reason` is one of a fixed set; `detail` contains no value of a request. */
  note(reason: string, detail: string): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - (this.#loggedAtMs.get(reason) ?? Number.NEGATIVE_INFINITY) < INTERVAL_MS) return;
    this.#loggedAtMs.set(reason, nowMs);
    this.#log.warn({ reason, detail }, `the store is failing: ${reason}`);
  }

  /** A call succeeded. */
  recovered(): void {
    if (this.#loggedAtMs.size === 0) return;
    const nowMs = this.#clock.monotonicMs();
    for (const [reason, atMs] of this.#loggedAtMs) {
      if (nowMs - atMs < INTERVAL_MS) continue;
      this.#loggedAtMs.delete(reason);
      this.#log.info({ reason }, 'the store has recovered');
    }
  }
}

// ---- the gate ----
//
// Bounds the number of calls in flight. Further calls wait, first come, first served. If too many are waiting, a call
// is refused with `overloaded` before it does anything.

export interface GateOptions {
  readonly inFlightMax: number;
  readonly waitingMax: number;
}

interface Waiter {
  readonly admit: () => void;
  readonly refuse: (error: GrantdError) => void;
}

export class Gate {
  readonly #clock: Clock;
  readonly #options: GateOptions;
  readonly #waiting = new Set<Waiter>();
  #inFlight = 0;

  constructor(clock: Clock, options: GateOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /**
   * Resolves when there is capacity; the caller must then call `leave`. Rejects with `overloaded`, and at the deadline
   * with `unavailable`.
   */
  enter(deadline: DeadlineMs): Promise<void> {
    if (this.#inFlight < this.#options.inFlightMax) {
      this.#inFlight += 1;
      return Promise.resolve();
    }
    if (this.#waiting.size >= this.#options.waitingMax) {
      return Promise.reject(new GrantdError('overloaded', 'The store has more work than it can handle.'));
    }
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimer(
        () => waiter.refuse(new GrantdError('unavailable', 'The deadline passed before the call reached the store.')),
        Math.max(0, deadline - this.#clock.monotonicMs()),
      );
      const settle = (): void => {
        timer.cancel();
        this.#waiting.delete(waiter);
      };
      const waiter: Waiter = {
        admit: () => {
          settle();
          resolve();
        },
        refuse: (error) => {
          settle();
          reject(error);
        },
      };
      this.#waiting.add(waiter);
    });
  }

  leave(): void {
    const [next] = this.#waiting;
    // The next waiting call takes its place.
    if (next === undefined) this.#inFlight -= 1;
    else next.admit();
  }

  /** Refuses every waiting call. */
  close(): void {
    for (const waiter of [...this.#waiting]) waiter.refuse(new GrantdError('unavailable', 'The store is closed.'));
  }
}

// ---- calls in flight ----
//
// The calls in flight, by the node from which each expects a response. Each ends once: with its response, at its
// deadline, when its node falls silent, or when the store closes. A later response is ignored.

/** A deadline further away than this is checked again after this time. */
const TIMER_MAX_MS = 3_600_000;

/** The call was abandoned on its node; it is safe to repeat on another one. */
export const ELSEWHERE = Symbol('elsewhere');

export interface ExecutionOptions {
  readonly deadline: DeadlineMs;
  readonly idempotent: boolean;
}

interface Execution {
  readonly idempotent: boolean;
  host: string | undefined;
  readonly giveUp: (error: GrantdError) => void;
  readonly goElsewhere: () => void;
}

export class CallsInFlight {
  readonly #clock: Clock;
  readonly #executions = new Set<Execution>();
  readonly #onTimeout: (host: string) => void;

  /** `onTimeout` gets the node of each call that timed out. */
  constructor(clock: Clock, onTimeout: (host: string) => void) {
    this.#clock = clock;
    this.#onTimeout = onTimeout;
  }

  /**
   * `send` starts the execution and gets a function to call with each node that the call is sent to. Resolves to the
   * result, or to ELSEWHERE if the call must be repeated on another node.
   */
  run<Answer>(
    { deadline, idempotent }: ExecutionOptions,
    send: (onHost: (host: string) => void) => Promise<Answer>,
  ): Promise<Answer | typeof ELSEWHERE> {
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined;
      const end = (): void => {
        timer?.cancel();
        this.#executions.delete(execution);
      };
      const execution: Execution = {
        idempotent,
        host: undefined,
        giveUp: (error) => {
          end();
          reject(error);
        },
        goElsewhere: () => {
          end();
          resolve(ELSEWHERE);
        },
      };
      const watch = (): void => {
        const leftMs = deadline - this.#clock.monotonicMs();
        if (leftMs > 0) {
          timer = this.#clock.setTimer(watch, Math.min(leftMs, TIMER_MAX_MS));
          return;
        }
        if (execution.host !== undefined) this.#onTimeout(execution.host);
        execution.giveUp(
          new GrantdError('unavailable', 'The store did not respond in time; the outcome of a write is not known.'),
        );
      };
      this.#executions.add(execution);
      watch();
      if (!this.#executions.has(execution)) return;
      send((host) => {
        execution.host = host;
      }).then(
        (answer) => {
          end();
          resolve(answer);
        },
        (error: unknown) => {
          end();
          reject(error);
        },
      );
    });
  }

  /** Calls that are safe to repeat no longer wait for this node. */
  leaveHost(host: string): void {
    for (const execution of [...this.#executions])
      if (execution.host === host && execution.idempotent) execution.goElsewhere();
  }

  /** No call waits for this node any longer. */
  giveUpHost(host: string): void {
    for (const execution of [...this.#executions]) {
      if (execution.host !== host) continue;
      execution.giveUp(
        new GrantdError('unavailable', 'A store node became unresponsive; the outcome of a write is not known.'),
      );
    }
  }

  giveUpAll(): void {
    const closed = new GrantdError('unavailable', 'The store is closed; the outcome of a write is not known.');
    for (const execution of [...this.#executions]) execution.giveUp(closed);
  }
}
