// Defines how a call of the shard's port crosses the wire: its request and its reply in both directions, and who may
// make it. This file turns a definition into what the front sends and what the server replies. Invariants: a call is
// validated completely before the shard sees it; the owner decides here who may make it, regardless of what the front
// decided; a reply of another shape is `internal`, never a guess.

import { GrantdError } from '../../core/errors.ts';
import type {
  AnswerOf,
  CallerOf,
  CallName,
  CallServer,
  HandleRight,
  InAttempt,
  InterShardCalls,
  OperatorCalls,
  RequestOf,
  ShardCalls,
  TenantCalls,
  TenantConnection,
  UnderHandle,
} from '../../shard/shard.ts';
import type { Attempt, ReceivedCall, ReceivedReply } from '../messages.ts';
import { demand } from '../wire-violation.ts';
import { SHORT_TEXT_MAX } from './fields.ts';
import { type AnyField, type Field, nothing } from './schema.ts';

/** A call without what its link adds to it. */
export type CallBody = Readonly<Record<string, unknown>>;
/** A reply without the id of its call. */
export type ReplyBody = Readonly<Record<string, unknown>>;

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
      : Name extends keyof InterShardCalls
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
  readonly operator?: CallServer<OperatorCalls> | undefined;
  /** Only for another shard. */
  readonly shard?: CallServer<InterShardCalls> | undefined;
}

export type CallSpec<Name extends CallName> = WriteOf<Name> & {
  readonly access: AccessOf<Name>;
  /** Its answer is a page of unlimited data of the operator's: few run at once. */
  readonly enumerates?: boolean;
  /** Approximate time that it takes later, beyond the measured time of its first step; with `per`, for each item. */
  readonly costMs?: number;
  /** The fields on the wire that say how many items there are: lists, or a limit. */
  readonly per?: readonly string[];
  readonly request: Field<RequestOf<Name>>;
  /** The field of `Reply` that carries the answer. */
  readonly reply: string;
  readonly answer: Field<AnswerOf<Name>>;
  /** What an answer owes to its request, besides its form. Demands it. */
  readonly fits?: (answer: AnswerOf<Name>, request: RequestOf<Name>) => void;
  /** The namespaces of what an answer denies: those that the tenant knows nothing of are said with the reply. */
  readonly namespacesDenied?: (request: RequestOf<Name>, answer: AnswerOf<Name>) => readonly string[];
};

/** One row of the table of calls. */
export interface DefinedCall<Name extends CallName> {
  /** In the port of the shard, and the field of `Call` that carries the request. */
  readonly name: Name;
  readonly access: Access;
  readonly write: Write;
  readonly enumerates: boolean;
  readonly request: AnyField;
  readonly reply: string;
  readonly answer: AnyField;
  costMs(call: ReceivedCall): number;
  toWire(request: RequestOf<Name>): CallBody;
  answerOf(reply: ReceivedReply, request: RequestOf<Name>): AnswerOf<Name>;
  /** The namespaces of what the answer denies, each once. */
  namespacesDenied(request: RequestOf<Name>, answer: AnswerOf<Name>): readonly string[];
  /** Throws WireViolation before the shard hears of the call. */
  serve(peer: ServedPeer, call: ReceivedCall): Promise<ReplyBody>;
}

/** Whether a call is made under a handle. */
export const needsHandle = (access: Access): access is HandleRight =>
  access !== 'peer' && access !== 'console' && access !== 'shard';

function connectionFor(peer: ServedPeer, access: Access): Partial<CallServer<ShardCalls>> {
  switch (access) {
    case 'console':
    case 'operator-handle':
      if (peer.operator !== undefined) return peer.operator;
      throw new GrantdError('insufficient-scope', 'Only the operator’s console may make this call.');
    case 'shard':
      if (peer.shard !== undefined) return peer.shard;
      throw new GrantdError('insufficient-scope', 'Only another shard may make this call.');
    default:
      return peer.tenant;
  }
}

function present<Value>(value: Value): NonNullable<Value> {
  demand(value !== null && value !== undefined, 'A call lacks its request.');
  return value;
}

function handleOf(call: ReceivedCall): number {
  demand(call.handle > 0, 'A call that needs a handle has none.');
  return call.handle;
}

function attemptOf({ attempt }: ReceivedCall): Attempt {
  demand(attempt !== null, 'A write lacks its attempt.');
  const { requestId, expiresAtMs } = attempt;
  demand(requestId.length >= 1 && requestId.length <= SHORT_TEXT_MAX, 'The request id of an attempt is out of bounds.');
  demand(Number.isFinite(expiresAtMs), 'The expiry of an attempt is not a number.');
  return { requestId, expiresAtMs };
}

const itemsIn = (field: unknown): number => (Array.isArray(field) ? field.length : Number(field));

/** The answer in a field of a reply. An absent or foreign reply must not turn into an empty list or a deny. */
export function answerIn<Answer>(reply: ReceivedReply, result: string, answer: Field<Answer>): Answer {
  const wire = reply[result];
  if (wire === null || wire === undefined) throw malformed('The reply belongs to a different call.');
  try {
    return answer.read(wire, result);
  } catch (error) {
    throw malformed(error);
  }
}

const malformed = (cause: unknown): GrantdError =>
  new GrantdError('internal', 'The shard sent a malformed reply.', { cause });

export function defineCall<const Name extends CallName>(name: Name, spec: CallSpec<Name>): DefinedCall<Name> {
  const { reply: result, write = 'no', enumerates = false, costMs = 0, per } = spec;
  const access: Access = spec.access;
  const right = needsHandle(access) ? access : undefined;
  return Object.freeze({
    name,
    access,
    write,
    enumerates,
    request: spec.request,
    reply: result,
    answer: spec.answer,

    costMs(call: ReceivedCall): number {
      const request: object = present(call[name]);
      if (per === undefined) return costMs;
      return costMs * per.reduce((items, field) => items + itemsIn(Reflect.get(request, field)), 0);
    },

    toWire: (request: RequestOf<Name>): CallBody => ({ [name]: spec.request.write(request) }),

    answerOf(reply: ReceivedReply, request: RequestOf<Name>) {
      const answer = answerIn(reply, result, spec.answer);
      try {
        spec.fits?.(answer, request);
      } catch (error) {
        throw malformed(error);
      }
      return answer;
    },

    namespacesDenied: (request: RequestOf<Name>, answer: AnswerOf<Name>) =>
      spec.namespacesDenied?.(request, answer) ?? [],

    serve(peer: ServedPeer, call: ReceivedCall): Promise<ReplyBody> {
      // By its access, the call is in the table of this connection.
      const connection = connectionFor(peer, access) as CallServer<ShardCalls>;
      const handle = right === undefined ? undefined : handleOf(call);
      const attempt = write === 'no' ? undefined : attemptOf(call);
      const request = spec.request.read(present(call[name]), name);
      if (right !== undefined && handle !== undefined) peer.tenant.demandRight(handle, right);
      // By its type, the access and the write of a call decide which of these its caller has.
      const caller = { handle, attempt } as CallerOf<Name>;
      return connection.call(name, caller, request).then((answer) => {
        const body = { [result]: spec.answer.write(answer) };
        if (handle === undefined || spec.namespacesDenied === undefined) return body;
        const denied = this.namespacesDenied(request, answer);
        if (denied.length === 0) return body;
        return { ...body, unknownNamespaces: [...peer.tenant.unknownNamespaces(handle, denied)] };
      });
    },
  });
}

/** A reply that says nothing but that the call was done. */
export const DONE = { reply: 'done', answer: nothing } as const;
