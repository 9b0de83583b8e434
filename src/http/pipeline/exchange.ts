// One request and its response, from the first byte of the header to the last byte of the response. It is the context
// of every call to the owner that the request causes. Invariant: it is answered exactly once.

import type { RequestContext, TenantSession } from '../../front/front.ts';
import type { RateDecision } from '../../front/limits/rate-limiter.ts';
import type { TraceSpan } from '../../telemetry/spans.ts';
import type { Caller, OpenRequest } from '../operations/operation.ts';
import type { Reservation } from '../wire/byte-budget.ts';
import type { Incoming } from '../wire/incoming.ts';
import type { RatePolicy } from './rate-policy.ts';
import type { OperationMeter } from './request-metrics.ts';
import type { HttpRoute, RegisteredOperation } from './routes.ts';

export class Exchange<Session extends Caller = TenantSession> implements RequestContext, OpenRequest {
  readonly requestId: string;
  /** On the monotonic clock; set again once the whole request has arrived. */
  deadlineMs: number;
  /** On the same clock; also set again. */
  arrivedAtMs: number;
  readonly incoming: Incoming;
  /** The operations at its path; undefined: there are none, or they have not been looked up. */
  route: HttpRoute<Session> | undefined = undefined;
  session: Session | undefined = undefined;
  operation: RegisteredOperation<Session> | undefined = undefined;
  /** Set once the limit has been consulted, for a plan that has one. */
  rate: RateDecision | undefined = undefined;
  /** The policy of the limit in `rate`. */
  policy: RatePolicy | undefined = undefined;
  meter: OperationMeter;
  /** Undefined: this request is not traced. */
  span: TraceSpan | undefined = undefined;
  /** Bytes reserved for a response that may be large. */
  reservation: Reservation | undefined = undefined;
  /** How long the client asked it to wait: not counted as its duration. */
  waitedMs = 0;
  answered = false;

  constructor(requestId: string, deadlineMs: number, incoming: Incoming, meter: OperationMeter) {
    this.requestId = requestId;
    this.deadlineMs = deadlineMs;
    this.arrivedAtMs = incoming.startedAtMs;
    this.incoming = incoming;
    this.meter = meter;
  }

  onceClosed(listener: () => void): void {
    this.incoming.onceClosed(listener);
  }
}

/** Its key, or its operator, has been verified. */
export type VerifiedExchange<Session extends Caller = TenantSession> = Exchange<Session> & {
  readonly session: Session;
};

/** There is an operation that its caller may call. */
export type AdmittedExchange<Session extends Caller = TenantSession> = VerifiedExchange<Session> & {
  readonly operation: RegisteredOperation<Session>;
};

export function setSession<Session extends Caller>(
  exchange: Exchange<Session>,
  session: Session,
): asserts exchange is VerifiedExchange<Session> {
  exchange.session = session;
}

export function setOperation<Session extends Caller>(
  exchange: VerifiedExchange<Session>,
  operation: RegisteredOperation<Session>,
): asserts exchange is AdmittedExchange<Session> {
  exchange.operation = operation;
  exchange.meter = operation.meter;
}
