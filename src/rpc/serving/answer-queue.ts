// Replies to one peer that wait to be sent, cut into messages that the peer accepts. Invariants: every reply leaves
// once, in a message of bounded size; a reply that no message can hold becomes a failure of its call alone.

import type { Clock } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { CheckAnswer } from '../../shard/shard.ts';
import type { Log } from '../../telemetry/log.ts';
import type { ReplyBody } from '../calls/define-call.ts';
import type { Reply, ShardMessage } from '../messages.ts';
import { BATCH_BYTES_MAX, LONGEST_BYTES_MAX } from '../protocol.ts';
import { isUnexpected, toWireFailure } from '../status-mapping.ts';
import { estimateBytes } from '../wire-size.ts';

/** Bytes of a check result here, and of a failure. */
const RESULT_BYTES = 8;
const FAILURE_BYTES = 256;
/** Failures of checks in one message, each of up to a few hundred bytes. */
const FAILED_PER_MESSAGE_MAX = 500;

export class ReplyQueue {
  readonly #clock: Clock;
  readonly #log: Log;
  #authorized: number[] = [];
  #denied: number[] = [];
  /** Those of both that were decided at a time of their own, with that time. */
  #timed: number[] = [];
  #timedAtMs: number[] = [];
  #failed: Reply[] = [];
  /** With what denied checks name and the tenant does not know. */
  #hinted: Reply[] = [];
  #replies: Reply[] = [];
  /** Bytes of each reply, and of all. */
  #replyBytes: number[] = [];
  #bytes = 0;

  constructor(dependencies: { readonly clock: Clock; readonly log: Log }) {
    this.#clock = dependencies.clock;
    this.#log = dependencies.log;
  }

  get waiting(): boolean {
    return (
      this.#authorized.length > 0 || this.#denied.length > 0 || this.#failed.length > 0 || this.#replies.length > 0
    );
  }

  /** About how many bytes it holds. */
  get waitingBytes(): number {
    const results = this.#authorized.length + this.#denied.length + 2 * this.#timed.length;
    return this.#bytes + RESULT_BYTES * results + FAILURE_BYTES * (this.#failed.length + this.#hinted.length);
  }

  check(id: number, answer: CheckAnswer): void {
    let authorized = answer;
    if (typeof authorized !== 'boolean') {
      this.#timed.push(id);
      this.#timedAtMs.push(authorized.checkedAtMs);
      authorized = authorized.authorized;
    }
    if (authorized) this.#authorized.push(id);
    else this.#denied.push(id);
  }

  /** Before the answer to this check, which is a denial. */
  hint(id: number, unknownNamespaces: readonly string[]): void {
    this.#hinted.push({ id, unknownNamespaces: [...unknownNamespaces] });
  }

  failCheck(id: number, error: unknown): void {
    if (isUnexpected(error)) this.#log.error({ err: error }, 'a check failed');
    this.#failed.push({ id, failure: toWireFailure(error) });
  }

  fail(id: number, error: unknown): void {
    if (isUnexpected(error)) this.#log.error({ err: error }, 'a call failed');
    this.reply(id, { failure: toWireFailure(error) });
  }

  reply(id: number, body: ReplyBody): void {
    let bytes = estimateBytes(body);
    if (bytes > LONGEST_BYTES_MAX) bytes = estimateBytes(body, true);
    if (bytes > LONGEST_BYTES_MAX) {
      this.#log.error({ bytes }, 'a reply is too large for a message');
      this.reply(id, { failure: toWireFailure(new GrantdError('internal', 'The reply is too large.')) });
      return;
    }
    this.#replies.push({ id, ...body });
    this.#replyBytes.push(bytes);
    this.#bytes += bytes;
  }

  /** Moves as much into the message as it may carry. */
  fill(message: ShardMessage): void {
    if (this.#authorized.length > 0 || this.#denied.length > 0 || this.#failed.length > 0) {
      message.checkResults = {
        authorized: this.#authorized,
        denied: this.#denied,
        failed: this.#failed.splice(0, FAILED_PER_MESSAGE_MAX),
        checkedAtMs: this.#clock.wallMs(),
        timed: this.#timed,
        timedAtMs: this.#timedAtMs,
        hinted: this.#hinted,
      };
      this.#hinted = [];
      this.#timed = [];
      this.#timedAtMs = [];
      this.#authorized = [];
      this.#denied = [];
    }
    if (this.#replies.length > 0) this.#fillReplies(message);
  }

  #fillReplies(message: ShardMessage): void {
    let count = 0;
    let bytes = 0;
    while (count < this.#replies.length) {
      const next = this.#replyBytes[count] ?? 0;
      if (count > 0 && bytes + next > BATCH_BYTES_MAX) break;
      bytes += next;
      count += 1;
    }
    message.replies = this.#replies.splice(0, count);
    this.#replyBytes.splice(0, count);
    this.#bytes -= bytes;
  }
}
