// One request and its response, from the first byte of the header to the last byte of the response. It is the context
// of every call to the owner that the request causes. Invariant: it is answered exactly once.

import type { RequestContext, TenantSession } from '../../front/front.ts';
import type { RateDecision } from '../../front/limits/rate-limiter.ts';
import type { TraceSpan } from '../../telemetry/spans.ts';
import type { OpenRequest } from '../operations/operation.ts';
import type { Reservation } from '../wire/byte-budget.ts';
import type { Incoming } from '../wire/incoming.ts';
import type { RatePolicy } from './rate-policy.ts';
import type { OperationMeter } from './request-metrics.ts';
import type { RegisteredOperation, Route } from './routes.ts';

export class Exchange implements RequestContext, OpenRequest {
  readonly requestId: string;
  /** On the monotonic clock; set again once the whole request has arrived. */
  deadlineMs: number;
  /** On the same clock; also set again. */
  arrivedAtMs: number;
  readonly incoming: Incoming;
  /** The operations at its path; undefined: there are none, or they have not been looked up. */
  route: Route | undefined = undefined;
  session: TenantSession | undefined = undefined;
  operation: RegisteredOperation | undefined = undefined;
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

/** Its key has been verified. */
export type VerifiedExchange = Exchange & { readonly session: TenantSession };

/** It is within its tenant's limit, and there is an operation that its key may call. */
export type AdmittedExchange = VerifiedExchange & { readonly operation: RegisteredOperation };

export function setSession(exchange: Exchange, session: TenantSession): asserts exchange is VerifiedExchange {
  exchange.session = session;
}

export function setOperation(
  exchange: VerifiedExchange,
  operation: RegisteredOperation,
): asserts exchange is AdmittedExchange {
  exchange.operation = operation;
  exchange.meter = operation.meter;
}
