// One call to one shard that many flights wait for, such as the acquisition of a handle. It has a time limit of its
// own, since none of them may wait for a lost call.

import type { Clock, Timer } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { beginCall, endCall } from '../../rpc/call-spans.ts';
import type { CallBody } from '../../rpc/calls/define-call.ts';
import type { TryFailure } from '../../rpc/links/stream-link.ts';
import type { ReceivedReply } from '../../rpc/messages.ts';
import { ShardFailure } from '../../shard/shard.ts';
import type { TraceSpan } from '../../telemetry/spans.ts';
import { requestOf } from '../links/outbox.ts';
import type { Receiver, ShardLink } from '../links/shard-link.ts';

const ANSWER_MS_MAX = 3000;

export class ShardQuestion implements Receiver {
  readonly #onReply: (reply: ReceivedReply) => void;
  readonly #onFailure: (failure: TryFailure) => void;
  #timer: Timer | undefined;
  #answered = false;
  #span: TraceSpan | undefined;

  constructor(onReply: (reply: ReceivedReply) => void, onFailure: (failure: TryFailure) => void) {
    this.#onReply = onReply;
    this.#onFailure = onFailure;
  }

  ask(link: ShardLink, body: CallBody, clock: Clock, parent?: TraceSpan): void {
    if (parent !== undefined) this.#span = beginCall(parent, requestOf(body), link.address);
    const id = link.call(this, 0, body, undefined, this.#span?.traceparent);
    if (this.#answered) return;
    this.#timer = clock.setTimer(() => {
      link.forget(id);
      this.onFailure(new ShardFailure('not-serving', 'The shard did not reply in time.'));
    }, ANSWER_MS_MAX);
  }

  onCheck(): void {
    this.onFailure(new GrantdError('internal', 'The shard replied to a different request.'));
  }

  onReply(reply: ReceivedReply): void {
    this.#answered = true;
    this.#timer?.cancel();
    if (this.#span !== undefined) endCall(this.#span);
    this.#onReply(reply);
  }

  onFailure(failure: TryFailure): void {
    this.#answered = true;
    this.#timer?.cancel();
    if (this.#span !== undefined) endCall(this.#span, failure);
    this.#onFailure(failure);
  }
}
