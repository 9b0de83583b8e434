// What a fake answers to calls: one handler a call, typed by the port of the shard.

import type { OperatorTenantCallName, OperatorTenantSession, RequestContext } from '../../src/front/front.ts';
import type { AnswerOf, CallName, RequestOf } from '../../src/shard/shard.ts';

export type CallHandlers<Name extends CallName> = {
  readonly [Each in Name]: (context: RequestContext, request: RequestOf<Each>) => Promise<AnswerOf<Each>>;
};

export function answerBy<Name extends CallName>(
  handlers: Partial<CallHandlers<CallName>>,
  name: Name,
  context: RequestContext,
  request: RequestOf<Name>,
): Promise<AnswerOf<Name>> {
  const handler = handlers[name];
  if (handler === undefined) throw new Error(`The fake does not answer ${name}.`);
  return handler(context, request);
}

/** The session, of which a test answers some calls itself. */
export const answering = (
  session: OperatorTenantSession,
  handlers: Partial<CallHandlers<OperatorTenantCallName>>,
): OperatorTenantSession => ({
  ...session,
  call: (name, context, request) =>
    name in handlers ? answerBy(handlers, name, context, request) : session.call(name, context, request),
});
