// What one call between front and shard consists of: its file in this folder says it in full, and this one turns that
// into what the front asks with and what the server answers with. It keeps: a call is validated in full before the
// shard sees it; who may make it is judged here, at the owner, whatever the front has judged before; an answer of
// another shape is `internal`, never a guess.

import { GrantdError } from '../../core/errors.ts';
import type { Attempt, HandleRight, OperatorConnection, Shard, TenantConnection } from '../../shard/shard.ts';
import type { Call, Call__Output } from '../gen/grantd/v1/Call.ts';
import type { Reply, Reply__Output } from '../gen/grantd/v1/Reply.ts';
import { answered } from './parts/answer-fields.ts';
import { attemptOf, handleOf, present } from './parts/request-fields.ts';

/** A call without what its link adds to it. */
export type CallBody = Omit<Call, 'id' | 'handle' | 'attempt' | 'traceparent' | 'request'>;
/** A reply without the id of what it answers. */
export type ReplyBody = Omit<Reply, 'id' | 'result'>;

export type CallField = NonNullable<Call['request']>;
export type ReplyField = Exclude<NonNullable<Reply['result']>, 'failure'>;

/** `peer`: any peer. `console`: a console. Otherwise the call is made under a handle that has to have this right. */
export type Access = 'peer' | 'console' | HandleRight;

/** `creates`: the same call of a client, made again, creates another one. */
export type Write = 'no' | 'repeatable' | 'creates';

/** A peer as the shard has connected it. */
export interface ServedPeer {
  readonly shard: Shard;
  readonly tenant: TenantConnection;
  /** Of a console only. */
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
  /** The field of `Call` that carries the request, and the one of `Reply` that carries the answer. */
  readonly request: Field;
  readonly reply: Result;
  readonly access: Allowed;
  readonly write: Writes;
  /** Where several calls share a field: whether the message is this call. One of them, the last one, does without. */
  readonly is?: (message: NonNullable<Call__Output[Field]>) => boolean;
  /** About what its items take once it goes on, beyond what is measured at its begin. */
  readonly costMs?: (message: NonNullable<Call__Output[Field]>) => number;
  readonly requestToWire: (request: Request) => CallBody & { readonly [F in Field]: object };
  /** Throws WireViolation, which ends the connection; an ill-formed identifier answers this call alone. */
  readonly requestFromWire: (message: NonNullable<Call__Output[Field]>) => Request;
  readonly serve: (by: Caller<Allowed, Writes>, request: Request) => Promise<Answer>;
  readonly replyToWire: (answer: Answer) => ReplyBody & { readonly [R in Result]: object };
  /** Throws `internal`. */
  readonly replyFromWire: (message: NonNullable<Reply__Output[Result]>, request: Request) => Answer;
}

/** One row of the table of calls. */
export interface DefinedCall<Field extends CallField, Request, Answer> {
  readonly field: Field;
  readonly access: Access;
  readonly write: Write;
  /** Whether a call that has the field is this one. */
  matches(call: Call__Output): boolean;
  costMs(call: Call__Output): number;
  toWire(request: Request): CallBody;
  answerOf(reply: Reply__Output, request: Request): Answer;
  /** Throws WireViolation before the first await; every other failure is the call's own. */
  serve(peer: ServedPeer, call: Call__Output): Promise<ReplyBody>;
}

/** Undefined: the call needs no handle. */
const rightOf = (access: Access): HandleRight | undefined =>
  access === 'peer' || access === 'console' ? undefined : access;

function connectionFor(peer: ServedPeer, access: Access): TenantConnection | OperatorConnection {
  if (access !== 'console' && access !== 'operator-handle') return peer.tenant;
  if (peer.operator !== undefined) return peer.operator;
  throw new GrantdError('insufficient-scope', 'Only the operator’s console may ask this.');
}

export function defineCall<
  const Field extends CallField,
  const Result extends ReplyField,
  const Allowed extends Access,
  const Writes extends Write,
  Request,
  Answer,
>(spec: CallSpec<Field, Result, Allowed, Writes, Request, Answer>): DefinedCall<Field, Request, Answer> {
  const { request: field, reply: result, access, write } = spec;
  const right = rightOf(access);
  return Object.freeze({
    field,
    access,
    write,
    matches: (call: Call__Output) => spec.is?.(present(call[field])) ?? true,
    costMs: (call: Call__Output) => spec.costMs?.(present(call[field])) ?? 0,
    toWire: spec.requestToWire,
    answerOf: (reply: Reply__Output, request: Request) => spec.replyFromWire(answered(reply[result]), request),

    serve(peer: ServedPeer, call: Call__Output): Promise<ReplyBody> {
      const connection = connectionFor(peer, access);
      const handle = right === undefined ? undefined : handleOf(call);
      const attempt = write === 'no' ? undefined : attemptOf(call);
      const request = spec.requestFromWire(present(call[field]));
      if (right !== undefined && handle !== undefined) peer.tenant.demandRight(handle, right);
      // What the type says of this call, the lines above have made sure of.
      const by = { shard: peer.shard, connection, handle, attempt } as Caller<Allowed, Writes>;
      return spec.serve(by, request).then(spec.replyToWire);
    },
  });
}
