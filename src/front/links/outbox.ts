// What a link has to send: the checks and calls that gather into one message. Invariants: nothing is sent twice; checks
// go before calls; calls take turns by handle, so no client waits for all the long calls of another; no message exceeds
// what its receiver accepts.

import { NAMED, type SingleCheck } from '../../rpc/calls/checks.ts';
import type { CallBody } from '../../rpc/calls/define-call.ts';
import type { Call } from '../../rpc/gen/grantd/v1/Call.ts';
import type { Checks } from '../../rpc/gen/grantd/v1/Checks.ts';
import type { FrontMessage } from '../../rpc/gen/grantd/v1/FrontMessage.ts';
import type { Relation } from '../../rpc/gen/grantd/v1/Relation.ts';
import type { TracedCheck } from '../../rpc/gen/grantd/v1/TracedCheck.ts';
import { BATCH_BYTES_MAX, CHECKS_PER_MESSAGE_MAX } from '../../rpc/protocol.ts';
import { estimateBytes } from '../../rpc/wire-size.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

/** Tags, lengths and numbers of one check, without its strings. */
const CHECK_OVERHEAD_BYTES = 24;
/** Lengths of the name and the context of a check. */
const NAMED_BYTES = 8;
/** Extra bytes of a traced check. */
const TRACED_BYTES = 64;
/** About twenty of the largest writes. More would only wait in memory for a shard that cannot keep up. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024;

export type { CallBody };

/** What a call requests: the name of its only field. */
export const requestOf = (body: CallBody): string => Object.keys(body)[0] ?? '';

interface Sealed {
  readonly checks: Checks;
  readonly bytes: number;
}

interface WaitingCall {
  readonly call: Call;
  readonly bytes: number;
}

export class Outbox {
  readonly #metrics: Metrics;
  /** Checks of complete messages, sent before those that are gathering. */
  #sealed: Sealed[] = [];
  /** Bytes of the checks that are gathering. */
  #bytes = 0;
  #ids: number[] = [];
  #handles: number[] = [];
  #subjects: string[] = [];
  #relations: Relation[] = [];
  #objects: string[] = [];
  /** Of the named checks. */
  #names: string[] = [];
  #contexts: string[] = [];
  #traced: TracedCheck[] = [];
  /** Calls by handle, in the order of their turns. */
  #calls = new Map<number, WaitingCall[]>();
  #waitingBytes = 0;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** Whether the bytes that wait for the shard exceed their bound, so that nothing more should be added. */
  get full(): boolean {
    return this.#waitingBytes > WAITING_BYTES_MAX;
  }

  /** `traceparent`: for a traced check. */
  addCheck(id: number, handle: number, check: SingleCheck, traceparent?: string): void {
    const { subject, relation, object, name, context } = check;
    // A UTF-16 unit takes 3 bytes at most.
    let bytes = CHECK_OVERHEAD_BYTES + 3 * (subject.length + object.length + name.length + context.length);
    if (relation === NAMED) bytes += NAMED_BYTES;
    if (traceparent !== undefined) bytes += TRACED_BYTES;
    if (this.#bytes + bytes > BATCH_BYTES_MAX || this.#ids.length >= CHECKS_PER_MESSAGE_MAX) {
      this.#sealed.push(this.#seal());
    }
    this.#ids.push(id);
    this.#handles.push(handle);
    this.#subjects.push(subject);
    // A relation has the same number in the core and on the wire.
    this.#relations.push(relation as Relation);
    this.#objects.push(object);
    if (relation === NAMED) {
      this.#names.push(name);
      this.#contexts.push(context);
    }
    if (traceparent !== undefined) this.#traced.push({ index: this.#ids.length - 1, traceparent });
    this.#bytes += bytes;
    this.#waitingBytes += bytes;
  }

  addCall(call: Call): void {
    const handle = call.handle ?? 0;
    const waiting = { call, bytes: estimateBytes(call) };
    const flow = this.#calls.get(handle);
    if (flow === undefined) this.#calls.set(handle, [waiting]);
    else flow.push(waiting);
    this.#waitingBytes += waiting.bytes;
  }

  /** The next message, with as much of what has gathered as it may carry; undefined if nothing has. */
  next(): FrontMessage | undefined {
    const message: FrontMessage = {};
    let bytes = 0;
    if (this.#ids.length > 0 || this.#sealed.length > 0) {
      const sealed = this.#sealed.shift() ?? this.#seal();
      bytes = sealed.bytes;
      message.checks = sealed.checks;
    } else if (this.#calls.size === 0) {
      return undefined;
    }
    if (this.#calls.size > 0) bytes += this.#addCalls(message, BATCH_BYTES_MAX - bytes);
    this.#waitingBytes -= bytes;
    return message;
  }

  clear(): void {
    this.#sealed = [];
    if (this.#ids.length > 0) this.#seal();
    this.#calls = new Map();
    this.#waitingBytes = 0;
  }

  /** One call of each handle in turn: the first regardless of its size, others while they fit. Returns their bytes. */
  #addCalls(message: FrontMessage, bytesMax: number): number {
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
    message.calls = calls;
    return bytes;
  }

  #seal(): Sealed {
    const checks: Checks = {
      ids: this.#ids,
      handles: this.#handles,
      subjects: this.#subjects,
      relations: this.#relations,
      objects: this.#objects,
      names: this.#names,
      contexts: this.#contexts,
    };
    if (this.#traced.length > 0) {
      checks.traced = this.#traced;
      this.#traced = [];
    }
    this.#metrics.streamBatchChecks.observe(this.#ids.length);
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#ids = [];
    this.#handles = [];
    this.#subjects = [];
    this.#relations = [];
    this.#objects = [];
    this.#names = [];
    this.#contexts = [];
    return { checks, bytes };
  }
}
