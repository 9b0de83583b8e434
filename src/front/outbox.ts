// What a link has to send: the checks and calls that gather into one message. It keeps: nothing is sent twice or
// overtaken; no message exceeds what its receiver takes.

import type { Call } from '../rpc/gen/grantd/v1/Call.ts';
import type { FrontMessage } from '../rpc/gen/grantd/v1/FrontMessage.ts';
import type { Relation } from '../rpc/gen/grantd/v1/Relation.ts';
import type { TracedCheck } from '../rpc/gen/grantd/v1/TracedCheck.ts';
import { BATCH_BYTES_MAX, CHECKS_PER_MESSAGE_MAX } from '../rpc/protocol.ts';
import { estimateBytes } from '../rpc/reply-size.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Tags, lengths and numbers of one check besides its strings. */
const CHECK_OVERHEAD_BYTES = 24;
/** Of a check that is traced, besides. */
const TRACED_BYTES = 64;
/** Some twenty of the largest writes; more only waits in memory for a shard that cannot keep up. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024;

/** A call without what its link adds to it. */
export type CallBody = Omit<Call, 'id' | 'handle' | 'attempt' | 'traceparent' | 'request'>;

/** What a call asks for: the name of the one field that it has. */
export const requestOf = (body: CallBody): string => Object.keys(body)[0] ?? '';

export class Outbox {
  readonly #metrics: Metrics;
  /** Full messages, to be sent first, and the size of each. */
  #sealed: FrontMessage[] = [];
  #sealedBytes: number[] = [];
  /** Of the message that is gathering. */
  #bytes = 0;
  #waitingBytes = 0;
  #ids: number[] = [];
  #handles: number[] = [];
  #subjects: string[] = [];
  #relations: Relation[] = [];
  #objects: string[] = [];
  #traced: TracedCheck[] = [];
  #calls: Call[] = [];

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** Whether so much waits for the shard to read on that nothing more should be added. */
  get full(): boolean {
    return this.#waitingBytes > WAITING_BYTES_MAX;
  }

  /** `traceparent`: of a check that is traced. */
  addCheck(id: number, handle: number, subject: string, relation: number, object: string, traceparent?: string): void {
    // A UTF-16 unit takes 3 bytes at most.
    this.#reserve(CHECK_OVERHEAD_BYTES + 3 * (subject.length + object.length));
    this.#ids.push(id);
    this.#handles.push(handle);
    this.#subjects.push(subject);
    // A relation's number of the core is its number on the wire.
    this.#relations.push(relation as Relation);
    this.#objects.push(object);
    if (traceparent !== undefined) {
      this.#bytes += TRACED_BYTES;
      this.#waitingBytes += TRACED_BYTES;
      this.#traced.push({ index: this.#ids.length - 1, traceparent });
    }
  }

  addCall(call: Call): void {
    this.#reserve(estimateBytes(call));
    this.#calls.push(call);
  }

  /** The next message, with all that has gathered by now; undefined where nothing has. */
  next(): FrontMessage | undefined {
    const sealed = this.#sealed.shift();
    if (sealed === undefined) {
      this.#waitingBytes = 0;
      return this.#seal();
    }
    this.#waitingBytes -= this.#sealedBytes.shift() ?? 0;
    return sealed;
  }

  clear(): void {
    this.#sealed = [];
    this.#sealedBytes = [];
    this.#waitingBytes = 0;
    this.#seal();
  }

  #reserve(bytes: number): void {
    if (this.#bytes + bytes > BATCH_BYTES_MAX || this.#ids.length >= CHECKS_PER_MESSAGE_MAX) {
      const sealedBytes = this.#bytes;
      const message = this.#seal();
      if (message !== undefined) {
        this.#sealed.push(message);
        this.#sealedBytes.push(sealedBytes);
      }
    }
    this.#bytes += bytes;
    this.#waitingBytes += bytes;
  }

  #seal(): FrontMessage | undefined {
    if (this.#bytes === 0) return undefined;
    this.#bytes = 0;
    const message: FrontMessage = {};
    if (this.#ids.length > 0) {
      this.#metrics.streamBatchChecks.observe(this.#ids.length);
      message.checks = {
        ids: this.#ids,
        handles: this.#handles,
        subjects: this.#subjects,
        relations: this.#relations,
        objects: this.#objects,
      };
      if (this.#traced.length > 0) {
        message.checks.traced = this.#traced;
        this.#traced = [];
      }
      this.#ids = [];
      this.#handles = [];
      this.#subjects = [];
      this.#relations = [];
      this.#objects = [];
    }
    if (this.#calls.length > 0) {
      message.calls = this.#calls;
      this.#calls = [];
    }
    return message;
  }
}
