// What a fake answers to calls: one handler a call, typed by the call's definition.

import type { OperatorTenantSession, RequestContext } from '../../src/front/front.ts';
import type { CallField, DefinedCall } from '../../src/rpc/calls/define-call.ts';
import type { CALLS } from '../../src/rpc/calls/table.ts';

type Calls = typeof CALLS;
type RequestOf<Name extends keyof Calls> = Parameters<Calls[Name]['answerOf']>[1];
type AnswerOf<Name extends keyof Calls> = ReturnType<Calls[Name]['answerOf']>;

export type CallHandlers<Name extends keyof Calls> = {
  readonly [Each in Name]: (context: RequestContext, request: RequestOf<Each>) => Promise<AnswerOf<Each>>;
};

type AnyHandlers = Partial<Record<CallField, (context: RequestContext, request: never) => Promise<unknown>>>;

export function answerBy<Request, Answer>(
  handlers: AnyHandlers,
  call: DefinedCall<CallField, Request, Answer>,
  context: RequestContext,
  request: Request,
): Promise<Answer> {
  const handler = handlers[call.field];
  if (handler === undefined) throw new Error(`The fake does not answer ${call.field}.`);
  // The field names the handler that has the types of this call.
  return handler(context, request as never) as Promise<Answer>;
}

/** The session, of which a test answers some calls itself. */
export const answering = <Name extends keyof Calls>(
  session: OperatorTenantSession,
  handlers: CallHandlers<Name>,
): OperatorTenantSession => ({
  ...session,
  call: (call, context, request) =>
    call.field in handlers ? answerBy(handlers, call, context, request) : session.call(call, context, request),
});
