// Keeps one usable session: as soon as the current one has lost every node, ends it and opens others until one works.

import type { Clock, Timer } from '../../../core/async/clock.ts';
import type { Log } from '../../../telemetry/log.ts';
import { reasonOf } from './errors.ts';
import { RECONNECTION_DELAY_MS } from './policies.ts';

/** The interval at which the session is checked. */
const LOOK_INTERVAL_MS = 250;

export interface KeptSession {
  readonly isUsable: () => boolean;
  readonly end: () => Promise<void>;
}

export interface ReconnectionPorts<Session extends KeptSession> {
  readonly clock: Clock;
  readonly log: Log;
  readonly open: () => Promise<Session>;
}

export class Reconnection<Session extends KeptSession> {
  readonly #ports: ReconnectionPorts<Session>;
  #current: Session;
  #timer: Timer | undefined;
  #closing: Promise<void> | undefined;

  constructor(ports: ReconnectionPorts<Session>, first: Session) {
    this.#ports = ports;
    this.#current = first;
    this.#lookAfter(LOOK_INTERVAL_MS);
  }

  /** While nothing can be reached, this is an ended session, and its calls fail at once. */
  get current(): Session {
    return this.#current;
  }

  /** Resolves when the current session has ended. A session that is still opening ends as soon as it is open. */
  close(): Promise<void> {
    this.#timer?.cancel();
    this.#closing ??= this.#current.end();
    return this.#closing;
  }

  #lookAfter(delayMs: number): void {
    this.#timer = this.#ports.clock.setTimer(() => {
      if (this.#current.isUsable()) this.#lookAfter(LOOK_INTERVAL_MS);
      else this.#replace();
    }, delayMs);
  }

  #replace(): void {
    this.#ports.log.warn('every connection to Cassandra was lost; opening new ones');
    this.#current.end().catch(() => {});
    void this.#open();
  }

  async #open(): Promise<void> {
    const { clock, log, open } = this.#ports;
    try {
      const opened = await open();
      if (this.#closing !== undefined) {
        opened.end().catch(() => {});
        return;
      }
      this.#current = opened;
      log.info('Cassandra can be reached again');
      this.#lookAfter(LOOK_INTERVAL_MS);
    } catch (error) {
      if (this.#closing !== undefined) return;
      log.debug({ reason: reasonOf(error) }, 'no new connection to Cassandra yet');
      this.#timer = clock.setTimer(() => void this.#open(), RECONNECTION_DELAY_MS);
    }
  }
}
