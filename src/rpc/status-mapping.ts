// The only place that maps between the errors of this program and what crosses gRPC: a Failure for one call, or the
// status that ends a stream. Invariant: causes and unknown errors never cross; they become `internal`.

import { status } from '@grpc/grpc-js';
import { assertNever } from '../core/assert.ts';
import { ERROR_CATALOGUE, GrantdError, isErrorCode } from '../core/errors.ts';
import { ShardFailure, type ShardFailureKind } from '../shard/shard.ts';
import { type Failure, FailureKind, type ReceivedFailure } from './messages.ts';
import { WireViolation } from './wire-violation.ts';

/** Keeps a reply that consists of failures alone within one message. */
const MESSAGE_LENGTH_MAX = 1000;

function wireKindOf(kind: ShardFailureKind) {
  switch (kind) {
    case 'wrong-owner':
      return FailureKind.FAILURE_WRONG_OWNER;
    case 'not-serving':
      return FailureKind.FAILURE_NOT_SERVING;
    case 'handle-unknown':
      return FailureKind.FAILURE_HANDLE_UNKNOWN;
    case 'expired':
      return FailureKind.FAILURE_EXPIRED;
    case 'undecided':
      return FailureKind.FAILURE_UNDECIDED;
    default:
      return assertNever(kind);
  }
}

/** Any thrown value, as the failure of one call. */
export function toWireFailure(error: unknown): Failure {
  if (error instanceof ShardFailure) {
    const message = error.message.slice(0, MESSAGE_LENGTH_MAX);
    return { kind: wireKindOf(error.kind), message, wrongOwner: error.owner ?? null };
  }
  const { code, message, details } = error instanceof WireViolation ? unreadable() : GrantdError.from(error);
  const failure = { kind: FailureKind.FAILURE_ERROR, code, message: message.slice(0, MESSAGE_LENGTH_MAX) };
  return typeof details.earliest === 'string' ? { ...failure, earliest: details.earliest } : failure;
}

/** Final for the peer: what one shard cannot read, the next one cannot either. */
const unreadable = () => new GrantdError('internal', 'The shard could not read the call.');

/** Whether the thrown value is a defect, to be logged where it is mapped. The stream itself logs a violation. */
export function isUnexpected(error: unknown): boolean {
  if (error instanceof ShardFailure || error instanceof WireViolation) return false;
  return !(error instanceof GrantdError && error.code !== 'internal');
}

export function fromWireFailure(failure: ReceivedFailure): GrantdError | ShardFailure {
  switch (failure.kind) {
    case FailureKind.FAILURE_ERROR:
      return isErrorCode(failure.code)
        ? new GrantdError(failure.code, failure.message, detailsFrom(failure))
        : new GrantdError('internal', 'The shard replied with an unknown error.', {
            cause: new Error(`${failure.code}: ${failure.message}`),
          });
    case FailureKind.FAILURE_WRONG_OWNER:
      return new ShardFailure('wrong-owner', failure.message, failure.wrongOwner ?? undefined);
    case FailureKind.FAILURE_NOT_SERVING:
      return new ShardFailure('not-serving', failure.message);
    case FailureKind.FAILURE_HANDLE_UNKNOWN:
      return new ShardFailure('handle-unknown', failure.message);
    case FailureKind.FAILURE_EXPIRED:
      return new ShardFailure('expired', failure.message);
    case FailureKind.FAILURE_UNDECIDED:
      return new ShardFailure('undecided', failure.message);
    default:
      return new GrantdError('internal', 'The shard replied with a failure of an unknown kind.');
  }
}

/** The only detail that crosses. */
const detailsFrom = ({ earliest }: ReceivedFailure) => (earliest === '' ? {} : { details: { earliest } });

/** The status that ends a stream: that of the catalogue, or INVALID_ARGUMENT for a violation of the framing. */
export function toStreamStatus(error: unknown): { readonly code: status; readonly details: string } {
  if (error instanceof WireViolation) return { code: status.INVALID_ARGUMENT, details: error.message };
  const { code, message } = GrantdError.from(error);
  return { code: ERROR_CATALOGUE[code].grpcStatus, details: message };
}
