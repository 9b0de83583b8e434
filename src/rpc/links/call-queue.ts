// Calls that wait to be sent on one link, cut into messages. Invariants: nothing is sent twice; calls take turns by
// handle, so no client waits for all the long calls of another; no message exceeds what its receiver accepts.

import type { Call, FrontMessage } from '../messages.ts';
import { BATCH_BYTES_MAX, LONGEST_BYTES_MAX } from '../protocol.ts';
import { estimateBytes } from '../wire-size.ts';
import type { LinkOutbox } from './stream-link.ts';

/** About twenty of the largest writes. More would only wait in memory for a shard that cannot keep up. */
export const WAITING_BYTES_MAX = 64 * 1024 * 1024;

interface WaitingCall {
  readonly call: Call;
  readonly bytes: number;
}

export class CallQueue implements LinkOutbox {
  /** Calls by handle, in the order of their turns. */
  #calls = new Map<number, WaitingCall[]>();
  #bytes = 0;

  get empty(): boolean {
    return this.#calls.size === 0;
  }

  /** Estimated size of all calls that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Calls leave at once. */
  get gathered(): number {
    return 0;
  }

  get full(): boolean {
    return this.#bytes > WAITING_BYTES_MAX;
  }

  /** False: no message can hold the call, and it is not sent. A message that is too large would end the stream. */
  add(call: Call): boolean {
    const handle = call.handle ?? 0;
    let bytes = estimateBytes(call);
    if (bytes > LONGEST_BYTES_MAX) bytes = estimateBytes(call, true);
    if (bytes > LONGEST_BYTES_MAX) return false;
    const waiting = { call, bytes };
    const flow = this.#calls.get(handle);
    if (flow === undefined) this.#calls.set(handle, [waiting]);
    else flow.push(waiting);
    this.#bytes += waiting.bytes;
    return true;
  }

  next(): FrontMessage | undefined {
    return this.empty ? undefined : { calls: this.take(BATCH_BYTES_MAX) };
  }

  /** One call of each handle in turn: the first regardless of its size, others while they fit. */
  take(bytesMax: number): Call[] {
    const calls: Call[] = [];
    let bytes = 0;
    // A flow with more to send moves behind the others, where this loop meets it again.
    for (const [handle, flow] of this.#calls) {
      const [first] = flow;
      if (first === undefined || (calls.length > 0 && bytes + first.bytes > bytesMax)) break;
      flow.shift();
      calls.push(first.call);
      bytes += first.bytes;
      this.#calls.delete(handle);
      if (flow.length > 0) this.#calls.set(handle, flow);
    }
    this.#bytes -= bytes;
    return calls;
  }

  clear(): void {
    this.#calls = new Map();
    this.#bytes = 0;
  }
}
