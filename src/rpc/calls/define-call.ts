// Defines a call between front and shard. The file of each call in this folder specifies it completely; this file turns
// that into what the front sends and what the server replies. Invariants: a call is validated completely before the
// shard sees it; the owner decides here who may make it, regardless of what the front decided; a reply of another shape
// is `internal`, never a guess.

import { GrantdError } from '../../core/errors.ts';
import type { Attempt, HandleRight, OperatorConnection, Shard, TenantConnection } from '../../shard/shard.ts';
import type { Call, Call__Output } from '../gen/grantd/v1/Call.ts';
import type { Reply, Reply__Output } from '../gen/grantd/v1/Reply.ts';
import { answered } from './parts/answer-fields.ts';
import { attemptOf, handleOf, present } from './parts/request-fields.ts';

/** A call without what its link adds to it. */
export type CallBody = Omit<Call, 'id' | 'handle' | 'attempt' | 'traceparent' | 'request'>;
/** A reply without the id of its call. */
export type ReplyBody = Omit<Reply, 'id' | 'result'>;

export type CallField = NonNullable<Call['request']>;
export type ReplyField = Exclude<NonNullable<Reply['result']>, 'failure'>;

/** `peer`: any peer. `console`: only a console. Otherwise the call is made under a handle that must have this right. */
export type Access = 'peer' | 'console' | HandleRight;

/** `creates`: if a client repeats the call in a new request, it creates a second one. */
export type Write = 'no' | 'repeatable' | 'creates';

/** A peer as connected to the shard. */
export interface ServedPeer {
  readonly shard: Shard;
  readonly tenant: TenantConnection;
  /** Only for a console. */
  readonly operator: OperatorConnection | undefined;
}

type OperatorAccess = 'console' | 'operator-handle';

interface Caller<Allowed extends Access, Writes extends Write> {
  readonly shard: Shard;
  readonly connection: Allowed extends OperatorAccess ? OperatorConnection : TenantConnection;
  readonly handle: Allowed extends HandleRight ? number : undefined;
  readonly attempt: Writes extends 'no' ? undefined : Attempt;
}

export interface CallSpec<
  Field extends CallField,
  Result extends ReplyField,
  Allowed extends Access,
  Writes extends Write,
  Request,
  Answer,
> {
  /** The field of `Call` that carries the request, and the field of `Reply` that carries the result. */
  readonly request: Field;
  readonly reply: Result;
  readonly access: Allowed;
  readonly write: Writes;
  /** Approximate time that its items take later, beyond the measured time of its first step. */
  readonly costMs?: (message: NonNullable<Call__Output[Field]>) => number;
  readonly requestToWire: (request: Request) => CallBody & { readonly [F in Field]: object };
  /** Throws WireViolation, which ends the connection; an ill-formed identifier fails only this call. */
  readonly requestFromWire: (message: NonNullable<Call__Output[Field]>) => Request;
  readonly serve: (by: Caller<Allowed, Writes>, request: Request) => Promise<Answer>;
  readonly replyToWire: (answer: Answer) => ReplyBody & { readonly [R in Result]: object };
  /** Throws `internal`. */
  readonly replyFromWire: (message: NonNullable<Reply__Output[Result]>, request: Request) => Answer;
}

/** One row of the table of calls. */
export interface DefinedCall<Field extends CallField, Request, Answer, Allowed extends Access = Access> {
  readonly field: Field;
  readonly access: Allowed;
  readonly write: Write;
  costMs(call: Call__Output): number;
  toWire(request: Request): CallBody;
  answerOf(reply: Reply__Output, request: Request): Answer;
  /** Throws WireViolation before the first await; any other failure concerns only this call. */
  serve(peer: ServedPeer, call: Call__Output): Promise<ReplyBody>;
}

/** Undefined: the call needs no handle. */
const rightOf = (access: Access): HandleRight | undefined =>
  access === 'peer' || access === 'console' ? undefined : access;

function connectionFor(peer: ServedPeer, access: Access): TenantConnection | OperatorConnection {
  if (access !== 'console' && access !== 'operator-handle') return peer.tenant;
  if (peer.operator !== undefined) return peer.operator;
  throw new GrantdError('insufficient-scope', 'Only the operator’s console may make this call.');
}

export function defineCall<
  const Field extends CallField,
  const Result extends ReplyField,
  const Allowed extends Access,
  const Writes extends Write,
  Request,
  Answer,
>(spec: CallSpec<Field, Result, Allowed, Writes, Request, Answer>): DefinedCall<Field, Request, Answer, Allowed> {
  const { request: field, reply: result, access, write } = spec;
  const right = rightOf(access);
  return Object.freeze({
    field,
    access,
    write,
    costMs: (call: Call__Output) => spec.costMs?.(present(call[field])) ?? 0,
    toWire: spec.requestToWire,
    answerOf: (reply: Reply__Output, request: Request) => spec.replyFromWire(answered(reply[result]), request),

    serve(peer: ServedPeer, call: Call__Output): Promise<ReplyBody> {
      const connection = connectionFor(peer, access);
      const handle = right === undefined ? undefined : handleOf(call);
      const attempt = write === 'no' ? undefined : attemptOf(call);
      const request = spec.requestFromWire(present(call[field]));
      if (right !== undefined && handle !== undefined) peer.tenant.demandRight(handle, right);
      // The lines above guarantee what the type says about this call.
      const by = { shard: peer.shard, connection, handle, attempt } as Caller<Allowed, Writes>;
      return spec.serve(by, request).then(spec.replyToWire);
    },
  });
}
