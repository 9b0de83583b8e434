// The handles of one key at the readers of its tenant: shards that answer reads beside the owner. Which one answers a
// read follows from its subject, so that the readers share the tenant's pages. A thread with a reader of its own asks
// that one alone. Invariants: a handle is used only on the connection over which it was issued; a read for which there
// is no handle now goes to the owner at once, and so does one that a reader has failed: a reader is never waited for.

import { type Backoff, backoffMs } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { rankShards } from '../../core/slots.ts';
import type { CallBody } from '../../rpc/calls/define-call.ts';
import { handleGrantOf } from '../../rpc/calls/handles.ts';
import type { TryFailure } from '../../rpc/links/stream-link.ts';
import type { Binding, Route } from '../links/routing-table.ts';
import type { ShardLink } from '../links/shard-link.ts';
import type { FlightControl } from './flights.ts';
import { chooseReader, seedOfReader } from './reader-of-subject.ts';
import type { ReadResult } from './reader-reads.ts';
import { ShardQuestion } from './shard-question.ts';

/** After a failure, a reader is not asked for a handle for so long. */
const PAUSE: Backoff = { firstMs: 1000, maxMs: 15_000 };
/** Pauses start over with the first one if the last has been over for so long. */
const RELAPSE_MS = 30_000;

interface Reader {
  readonly link: ShardLink;
  readonly seed: number;
  /** While there is a handle. */
  binding: Binding | undefined;
  /** The connection of the link over which the handle was issued. */
  connection: number;
  isAcquiring: boolean;
  /** When the last pause ends or has ended; monotonic, ms. */
  notBeforeMs: number;
  /** Pauses, each soon after the one before. */
  pauses: number;
}

/** Whether the reader may well answer the next read: it has too much to do, or only this read is at fault. */
const concernsOneRead = (failure: TryFailure): boolean =>
  failure instanceof GrantdError && (failure.code === 'overloaded' || failure.code === 'internal');

export class ReaderHandles {
  readonly #control: FlightControl;
  readonly tenantId: string;
  readonly #authentication: CallBody | undefined;
  /** How many readers the tenant has. */
  #count = 0;
  /** The generation of the routing table from which the readers were chosen. */
  #generation = -1;
  #readers: readonly Reader[] = [];

  /** `authentication`: undefined if the session only reads at the owner. */
  constructor(control: FlightControl, tenantId: string, authentication: CallBody | undefined) {
    this.#control = control;
    this.tenantId = tenantId;
    this.#authentication = authentication;
  }

  /** The owner has said so with a handle. */
  expect(count: number): void {
    this.#count = this.#expected(count);
    this.#generation = -1;
  }

  /** Whether the session may read at any. */
  get any(): boolean {
    return this.#count > 0;
  }

  /** The owner says so with a position. Returns whether the number has changed. */
  follow(count: number | undefined): boolean {
    if (count === undefined || this.#expected(count) === this.#count) return false;
    this.expect(count);
    return true;
  }

  #expected(count: number): number {
    if (this.#authentication === undefined) return 0;
    return this.#control.localReader === undefined ? count : 1;
  }

  /** The reader for this subject or object; undefined: the owner. `route`: to the owner. */
  bindingFor(route: Route, entity: string): Binding | undefined {
    if (this.#count === 0) return undefined;
    const { routing, clock } = this.#control;
    if (this.#generation !== routing.generation) this.#choose(route);
    const reader = chooseReader(this.#readers, entity);
    if (reader === undefined) return this.#toOwner('missing');
    const { link, binding } = reader;
    if (binding !== undefined && link.ready && reader.connection === link.connection) return binding;
    reader.binding = undefined;
    if (!link.ready) return this.#toOwner('unreachable');
    if (clock.monotonicMs() < reader.notBeforeMs) return this.#toOwner('paused');
    if (!reader.isAcquiring) this.#acquire(reader, route);
    return this.#toOwner('beginning');
  }

  #toOwner(result: Exclude<ReadResult, 'reader'>): undefined {
    this.#control.reads[result] += 1;
  }

  /** The next in the rendezvous order of the slot. Readers that stay keep their handles. */
  #choose({ slot, link: owner }: Route): void {
    const { routing, localReader } = this.#control;
    this.#generation = routing.generation;
    const candidates = routing.links().filter((link) => localReader === undefined || link.shardName === localReader);
    const links = new Map(candidates.map((link) => [link.shardName, link]));
    links.delete(owner.shardName);
    const before = new Map(this.#readers.map((reader) => [reader.link, reader]));
    this.#readers = rankShards([...links.keys()], slot)
      .slice(0, this.#count)
      .flatMap((shardName) => {
        const link = links.get(shardName);
        if (link === undefined) return [];
        const never = Number.NEGATIVE_INFINITY;
        const fresh = { link, binding: undefined, connection: 0, isAcquiring: false, notBeforeMs: never, pauses: 0 };
        return [before.get(link) ?? { ...fresh, seed: seedOfReader(shardName) }];
      });
  }

  #acquire(reader: Reader, { slot, epoch }: Route): void {
    const { link } = reader;
    const authentication = this.#authentication;
    if (authentication === undefined) return;
    reader.isAcquiring = true;
    const { connection } = link;
    const question = new ShardQuestion(
      (reply) => {
        reader.isAcquiring = false;
        try {
          const { handle, tenantId, expiresAtMs } = handleGrantOf(reply);
          if (tenantId !== this.tenantId) throw new GrantdError('internal', 'The reader replied to another request.');
          const failed = (failure: TryFailure): void => this.#fail(reader, binding, failure);
          const asked = { failed, keyEndsMs: expiresAtMs };
          const binding: Binding = { route: { slot, epoch, link }, handle, reader: asked };
          reader.binding = binding;
          reader.connection = connection;
        } catch {
          this.#pause(reader);
        }
      },
      () => {
        reader.isAcquiring = false;
        this.#pause(reader);
      },
    );
    question.ask(link, authentication, this.#control.clock);
  }

  #fail(reader: Reader, binding: Binding, failure: TryFailure): void {
    this.#toOwner('failed');
    // Another flight may have failed on it before.
    if (reader.binding === binding && !concernsOneRead(failure)) this.#pause(reader);
  }

  #pause(reader: Reader): void {
    const nowMs = this.#control.clock.monotonicMs();
    if (nowMs - reader.notBeforeMs > RELAPSE_MS) reader.pauses = 0;
    reader.binding = undefined;
    reader.notBeforeMs = nowMs + backoffMs(PAUSE, reader.pauses);
    reader.pauses += 1;
  }
}
