// What a link of a front has to send: the checks and calls that gather into one message. Invariants: nothing is sent
// twice; checks go before calls; no message exceeds what its receiver accepts.

import { NAMED, type SingleCheck } from '../../rpc/calls/checks.ts';
import type { CallBody } from '../../rpc/calls/define-call.ts';
import { CallQueue, WAITING_BYTES_MAX } from '../../rpc/links/call-queue.ts';
import type { LinkOutbox } from '../../rpc/links/stream-link.ts';
import type { Call, Checks, FrontMessage, TracedCheck } from '../../rpc/messages.ts';
import { BATCH_BYTES_MAX, CHECKS_PER_MESSAGE_MAX } from '../../rpc/protocol.ts';
import type { LogPosition } from '../../shard/shard.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

/** Tags, lengths and numbers of one check, without its strings. */
const CHECK_OVERHEAD_BYTES = 24;
/** Lengths of the name and the context of a check. */
const NAMED_BYTES = 8;
const TRACED_BYTES = 64;

/** What a call requests: the name of its only field. */
export const requestOf = (body: CallBody): string => Object.keys(body)[0] ?? '';

interface CheckBatch {
  readonly checks: Checks;
  readonly bytes: number;
}

export class Outbox implements LinkOutbox {
  readonly #metrics: Metrics;
  /** Checks of complete messages, sent before those that are gathering. */
  #sealed: CheckBatch[] = [];
  /** Bytes of the checks that are gathering. */
  #bytes = 0;
  #ids: number[] = [];
  #handles: number[] = [];
  #subjects: string[] = [];
  #relations: number[] = [];
  #objects: string[] = [];
  /** The names and contexts of checks by name. */
  #names: string[] = [];
  #contexts: string[] = [];
  #traced: TracedCheck[] = [];
  readonly #calls = new CallQueue();
  /** By tenant: the position for the calls to a reader that wait here. */
  readonly #positions = new Map<string, LogPosition>();
  /** Bytes of all checks that wait. */
  #checkBytes = 0;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  get gathered(): number {
    return this.#ids.length;
  }

  get full(): boolean {
    return this.#checkBytes + this.#calls.bytes > WAITING_BYTES_MAX;
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
    this.#relations.push(relation);
    this.#objects.push(object);
    if (relation === NAMED) {
      this.#names.push(name);
      this.#contexts.push(context);
    }
    if (traceparent !== undefined) this.#traced.push({ index: this.#ids.length - 1, traceparent });
    this.#bytes += bytes;
    this.#checkBytes += bytes;
  }

  /** The position is valid for every call of the tenant that waits here or is added in the same turn. */
  addPosition(position: LogPosition): void {
    this.#positions.set(position.tenantId, position);
  }

  /** False: no message can hold the call, and it is not sent. */
  addCall(call: Call): boolean {
    return this.#calls.add(call);
  }

  next(): FrontMessage | undefined {
    const message: FrontMessage = {};
    let bytes = 0;
    if (this.#ids.length > 0 || this.#sealed.length > 0) {
      const sealed = this.#sealed.shift() ?? this.#seal();
      bytes = sealed.bytes;
      message.checks = sealed.checks;
      this.#checkBytes -= bytes;
    } else if (this.#calls.empty) {
      return undefined;
    }
    if (!this.#calls.empty) message.calls = this.#calls.take(BATCH_BYTES_MAX - bytes);
    if (this.#positions.size > 0) {
      message.positions = [...this.#positions.values()];
      if (this.#ids.length === 0 && this.#sealed.length === 0 && this.#calls.empty) this.#positions.clear();
    }
    return message;
  }

  clear(): void {
    this.#sealed = [];
    this.#beginBatch();
    this.#checkBytes = 0;
    this.#calls.clear();
    this.#positions.clear();
  }

  #seal(): CheckBatch {
    const checks: Checks = {
      ids: this.#ids,
      handles: this.#handles,
      subjects: this.#subjects,
      relations: this.#relations,
      objects: this.#objects,
      names: this.#names,
      contexts: this.#contexts,
    };
    if (this.#traced.length > 0) checks.traced = this.#traced;
    this.#metrics.streamBatchChecks.observe(this.#ids.length);
    const bytes = this.#bytes;
    this.#beginBatch();
    return { checks, bytes };
  }
  #beginBatch(): void {
    this.#bytes = 0;
    this.#ids = [];
    this.#handles = [];
    this.#subjects = [];
    this.#relations = [];
    this.#objects = [];
    this.#names = [];
    this.#contexts = [];
    if (this.#traced.length > 0) this.#traced = [];
  }
}
