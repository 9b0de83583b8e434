// Defines how a call of the shard's port crosses the wire: its request and its reply in both directions, and who may
// make it. This file turns a definition into what the front sends and what the server replies. Invariants: a call is
// validated completely before the shard sees it; the owner decides here who may make it, regardless of what the front
// decided; a reply of another shape is `internal`, never a guess.

import { GrantdError } from '../../core/errors.ts';
import type {
  AnswerOf,
  CallerOf,
  Calling,
  CallName,
  HandleRight,
  InAttempt,
  OperatorCalls,
  ReaderCalls,
  RequestOf,
  ShardCalls,
  TenantCalls,
  TenantConnection,
  UnderHandle,
} from '../../shard/shard.ts';
import type { Call, Call__Output } from '../gen/grantd/v1/Call.ts';
import type { Reply, Reply__Output } from '../gen/grantd/v1/Reply.ts';
import { answered } from './answer-fields.ts';
import { attemptOf, handleOf, present } from './request-fields.ts';

/** A call without what its link adds to it. */
export type CallBody = Omit<Call, 'id' | 'handle' | 'attempt' | 'traceparent' | 'request'>;
/** A reply without the id of its call. */
export type ReplyBody = Omit<Reply, 'id' | 'result'>;

export type CallField = NonNullable<Call['request']>;
type ReplyField = Exclude<NonNullable<Reply['result']>, 'failure'>;

/**
 * `peer`: any peer. `console`, `shard`: only such a peer. Otherwise the call is made under a handle that must have this
 * right.
 */
export type Access = 'peer' | 'console' | 'shard' | HandleRight;
type AccessOf<Name extends CallName> =
  CallerOf<Name> extends UnderHandle
    ? Name extends keyof TenantCalls
      ? Exclude<HandleRight, 'operator-handle'>
      : 'operator-handle'
    : Name extends keyof TenantCalls
      ? 'peer'
      : Name extends keyof ReaderCalls
        ? 'shard'
        : 'console';

/** `creates`: if a client repeats the call in a new request, it creates a second one. */
export type Write = 'no' | 'repeatable' | 'creates';
type WriteOf<Name extends CallName> =
  CallerOf<Name> extends InAttempt ? { readonly write: Exclude<Write, 'no'> } : { readonly write?: never };

/** A peer as connected to the shard. */
export interface ServedPeer {
  readonly tenant: TenantConnection;
  /** Only for a console. */
  readonly operator?: Calling<OperatorCalls> | undefined;
  /** Only for another shard. */
  readonly reader?: Calling<ReaderCalls> | undefined;
}

export type CallSpec<Name extends CallName, Result extends ReplyField> = WriteOf<Name> & {
  readonly access: AccessOf<Name>;
  /** Its answer is a page of unlimited data of the operator's: few run at once. */
  readonly enumerates?: boolean;
  /** Approximate time that its items take later, beyond the measured time of its first step. */
  readonly costMs?: (message: NonNullable<Call__Output[Name]>) => number;
  readonly requestToWire: (request: RequestOf<Name>) => NonNullable<Call[Name]>;
  /** Throws WireViolation: no front of this version sends that. An ill-formed identifier throws its own error. */
  readonly requestFromWire: (message: NonNullable<Call__Output[Name]>) => RequestOf<Name>;
  /** The field of `Reply` that carries the result. */
  readonly reply: Result;
  readonly replyToWire: (answer: AnswerOf<Name>) => NonNullable<Reply[Result]>;
  /** The namespaces of what an answer denies: those that the tenant knows nothing of are said with the reply. */
  readonly namespacesDenied?: (request: RequestOf<Name>, answer: AnswerOf<Name>) => readonly string[];
  /** Throws `internal`. */
  readonly replyFromWire: (message: NonNullable<Reply__Output[Result]>, request: RequestOf<Name>) => AnswerOf<Name>;
};

/** One row of the table of calls. */
export interface DefinedCall<Name extends CallName> {
  /** In the port of the shard, and the field of `Call` that carries the request. */
  readonly name: Name;
  readonly access: Access;
  readonly write: Write;
  readonly enumerates: boolean;
  costMs(call: Call__Output): number;
  toWire(request: RequestOf<Name>): CallBody;
  answerOf(reply: Reply__Output, request: RequestOf<Name>): AnswerOf<Name>;
  /** The namespaces of what the answer denies, each once. */
  namespacesDenied(request: RequestOf<Name>, answer: AnswerOf<Name>): readonly string[];
  /** Throws WireViolation before the shard hears of the call. */
  serve(peer: ServedPeer, call: Call__Output): Promise<ReplyBody>;
}

/** Whether a call is made under a handle. */
export const needsHandle = (access: Access): access is HandleRight =>
  access !== 'peer' && access !== 'console' && access !== 'shard';

function connectionFor(peer: ServedPeer, access: Access): Partial<Calling<ShardCalls>> {
  switch (access) {
    case 'console':
    case 'operator-handle':
      if (peer.operator !== undefined) return peer.operator;
      throw new GrantdError('insufficient-scope', 'Only the operator’s console may make this call.');
    case 'shard':
      if (peer.reader !== undefined) return peer.reader;
      throw new GrantdError('insufficient-scope', 'Only another shard may make this call.');
    default:
      return peer.tenant;
  }
}

export function defineCall<const Name extends CallName, const Result extends ReplyField>(
  name: Name,
  spec: CallSpec<Name, Result>,
): DefinedCall<Name> {
  const { reply: result, write = 'no', enumerates = false } = spec;
  const access: Access = spec.access;
  const right = needsHandle(access) ? access : undefined;
  return Object.freeze({
    name,
    access,
    write,
    enumerates,
    costMs: (call: Call__Output) => spec.costMs?.(present(call[name])) ?? 0,
    toWire: (request: RequestOf<Name>): CallBody => ({ [name]: spec.requestToWire(request) }),
    answerOf: (reply: Reply__Output, request: RequestOf<Name>) => spec.replyFromWire(answered(reply[result]), request),

    namespacesDenied: (request: RequestOf<Name>, answer: AnswerOf<Name>) =>
      spec.namespacesDenied?.(request, answer) ?? [],

    serve(peer: ServedPeer, call: Call__Output): Promise<ReplyBody> {
      // By its access, the call is in the table of this connection.
      const connection = connectionFor(peer, access) as Calling<ShardCalls>;
      const handle = right === undefined ? undefined : handleOf(call);
      const attempt = write === 'no' ? undefined : attemptOf(call);
      const request = spec.requestFromWire(present(call[name]));
      if (right !== undefined && handle !== undefined) peer.tenant.demandRight(handle, right);
      // By its type, the access and the write of a call decide which of these its caller has.
      const caller = { handle, attempt } as CallerOf<Name>;
      return connection.call(name, caller, request).then((answer) => {
        const body = { [result]: spec.replyToWire(answer) };
        if (handle === undefined || spec.namespacesDenied === undefined) return body;
        const denied = this.namespacesDenied(request, answer);
        if (denied.length === 0) return body;
        return { ...body, unknownNamespaces: [...peer.tenant.unknownNamespaces(handle, denied)] };
      });
    },
  });
}

/** A request that says nothing. */
export const EMPTY_REQUEST = { requestToWire: () => ({}), requestFromWire: () => undefined } as const;
/** A reply that says nothing but that the call was done. */
export const DONE_REPLY = { reply: 'done', replyToWire: () => ({}), replyFromWire: () => undefined } as const;
