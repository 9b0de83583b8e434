// Sends to the streams of all tenants, each tenant in its turns, and counts the bytes that they hold in memory.
// Invariants: a step sends to a few streams; bytes that clients have not taken stay within their bounds; a client that
// takes nothing for too long is cut off, and never skipped.

import type { Clock } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import type { FollowEnd } from './followers.ts';
import type { EncodedBatch } from './stream-format.ts';
import { STREAMS_PER_STEP } from './stream-limits.ts';

/** A stream as its sender sees it. */
export interface SendingStream {
  /** Whether `send` is about to be called. */
  scheduled: boolean;
  /** On the monotonic clock: when the part was sent that the client has not taken. */
  waitingSinceMs: number;
  /** Sends parts for as long as the client takes them. */
  send(): void;
  stop(reason: FollowEnd): void;
}

export interface SenderBounds {
  readonly bytesMax: number;
  readonly tenantBytesMax: number;
  readonly stallMs: number;
}

/** The streams of one tenant that have something to send. */
export interface TenantStreams {
  readonly tenantId: string;
  /** How many streams refer to it. */
  streams: number;
  /** Streams with something to send, from `head` on. */
  readonly scheduled: SendingStream[];
  head: number;
  sending: boolean;
  /** Streams whose clients have not taken a part yet, the longest wait first. */
  readonly waiting: Set<SendingStream>;
  /** Bytes of batches that some of its streams have not sent completely. */
  bytes: number;
}

export class Sender {
  readonly #clock: Clock;
  readonly #turns: Turns;
  readonly #bounds: SenderBounds;
  readonly #byTenant = new Map<string, TenantStreams>();
  #bytes = 0;

  constructor({ clock, turns }: { readonly clock: Clock; readonly turns: Turns }, bounds: SenderBounds) {
    this.#clock = clock;
    this.#turns = turns;
    this.#bounds = bounds;
  }

  get heldBytes(): number {
    return this.#bytes;
  }

  /** Each call is followed by one of `leave`. */
  enter(tenantId: string): TenantStreams {
    let tenant = this.#byTenant.get(tenantId);
    if (tenant === undefined) {
      tenant = { tenantId, streams: 0, scheduled: [], head: 0, sending: false, waiting: new Set(), bytes: 0 };
      this.#byTenant.set(tenantId, tenant);
    }
    tenant.streams += 1;
    return tenant;
  }

  leave(tenant: TenantStreams): void {
    tenant.streams -= 1;
    if (tenant.streams === 0) this.#byTenant.delete(tenant.tenantId);
  }

  /** Sends to the stream in the turn of its tenant, perhaps at once. */
  schedule(tenant: TenantStreams, stream: SendingStream): void {
    if (stream.scheduled) return;
    stream.scheduled = true;
    tenant.scheduled.push(stream);
    if (tenant.sending) return;
    tenant.sending = true;
    this.#turns.run(tenant.tenantId, () => this.#step(tenant));
  }

  #step(tenant: TenantStreams): boolean {
    const { scheduled } = tenant;
    const end = Math.min(tenant.head + STREAMS_PER_STEP, scheduled.length);
    while (tenant.head < end) {
      const stream = scheduled[tenant.head];
      tenant.head += 1;
      if (stream === undefined) continue;
      stream.scheduled = false;
      stream.send();
    }
    if (tenant.head < scheduled.length) return true;
    scheduled.length = 0;
    tenant.head = 0;
    tenant.sending = false;
    return false;
  }

  /** The client has not taken a part. May stop streams, also this one. */
  wait(tenant: TenantStreams, stream: SendingStream): void {
    stream.waitingSinceMs = this.#clock.monotonicMs();
    tenant.waiting.add(stream);
    this.#relieve(tenant);
  }

  stopWaiting(tenant: TenantStreams, stream: SendingStream): void {
    tenant.waiting.delete(stream);
  }

  /** The stream keeps the batch until it has sent all of it. May stop streams, also this one. */
  hold(tenant: TenantStreams, batch: EncodedBatch): void {
    batch.holders += 1;
    if (batch.holders > 1) return;
    tenant.bytes += batch.bytes;
    this.#bytes += batch.bytes;
    this.#relieve(tenant);
  }

  release(tenant: TenantStreams, batch: EncodedBatch): void {
    batch.holders -= 1;
    if (batch.holders > 0) return;
    tenant.bytes -= batch.bytes;
    this.#bytes -= batch.bytes;
  }

  #relieve(tenant: TenantStreams): void {
    const { bytesMax, tenantBytesMax } = this.#bounds;
    while (tenant.bytes > tenantBytesMax && this.#cutSlowest(tenant));
    while (this.#bytes > bytesMax && this.#cutSlowest(this.#largest()));
  }

  /** Cuts off the client that has taken nothing for longest; false: all keep up, and their bytes are sent soon. */
  #cutSlowest(tenant: TenantStreams | undefined): boolean {
    const [slowest] = tenant?.waiting ?? [];
    slowest?.stop('memory');
    return slowest !== undefined;
  }

  #largest(): TenantStreams | undefined {
    let largest: TenantStreams | undefined;
    for (const tenant of this.#byTenant.values()) if (tenant.bytes > (largest?.bytes ?? 0)) largest = tenant;
    return largest;
  }

  /** Cuts off clients that have taken nothing for too long. */
  stopStalled(): void {
    const stalledBeforeMs = this.#clock.monotonicMs() - this.#bounds.stallMs;
    for (const { waiting } of this.#byTenant.values()) {
      for (const stream of waiting) {
        if (stream.waitingSinceMs > stalledBeforeMs) break;
        stream.stop('slow');
      }
    }
  }
}
