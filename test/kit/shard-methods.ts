// The calls of a connection to a shard as methods: `listKeys(handle, query)`, `createKey(handle, attempt, key)`. Tests
// make hundreds of them.

import { needsHandle, type ServedPeer } from '../../src/rpc/calls/define-call.ts';
import { CALLS } from '../../src/rpc/calls/table.ts';
import type {
  AnswerOf,
  Attempt,
  CallerOf,
  CallName,
  CallServer,
  ConsoleConnection,
  InAttempt,
  OperatorCalls,
  RequestOf,
  ShardCalls,
  TenantCalls,
  TenantConnection,
  UnderHandle,
} from '../../src/shard/shard.ts';

type Arguments<Name extends CallName> = [
  ...(CallerOf<Name> extends UnderHandle ? [handle: number] : []),
  ...(CallerOf<Name> extends InAttempt ? [attempt: Attempt] : []),
  ...(RequestOf<Name> extends undefined ? [] : [request: RequestOf<Name>]),
];
type Methods<Names extends CallName> = {
  readonly [Name in Names]: (...made: Arguments<Name>) => Promise<AnswerOf<Name>>;
};

export type TenantMethods = TenantConnection & Methods<keyof TenantCalls>;
export type OperatorMethods = Methods<keyof OperatorCalls>;

function methodsOf(connection: unknown): object {
  // By their types, the calls of a connection are among these.
  const calling = connection as CallServer<ShardCalls>;
  const methods = Object.values(CALLS).map(({ name, access, write }) => [
    name,
    (...made: unknown[]) => {
      const handle = needsHandle(access) ? made.shift() : undefined;
      const attempt = write === 'no' ? undefined : made.shift();
      return calling.call(name, { handle, attempt } as never, made[0] as never);
    },
  ]);
  return Object.fromEntries(methods);
}

/** A call on the part of a connection that has it. */
export function callOn<Name extends CallName>(
  { tenant, operator, shard }: ServedPeer,
  name: Name,
  caller: CallerOf<Name>,
  request: RequestOf<Name>,
): Promise<AnswerOf<Name>> {
  const { access } = CALLS[name];
  const ofOperator = access === 'console' || access === 'operator-handle';
  const part = access === 'shard' ? shard : ofOperator ? operator : tenant;
  return (part as CallServer<ShardCalls>).call(name, caller, request);
}

/** Scripted answers to calls: in place of the shard, or from what it answers. */
export type Answers = {
  [Name in CallName]?:
    | ((
        request: RequestOf<Name>,
        real: (request: RequestOf<Name>) => Promise<AnswerOf<Name>>,
      ) => Promise<AnswerOf<Name>>)
    | undefined;
};

const OWN = [
  'answerAt',
  'check',
  'checkKnown',
  'call',
  'tenantOf',
  'demandRight',
  'watchSettings',
  'takeSettings',
  'settingsOf',
  'endWaits',
  'report',
  'close',
] as const;

export const tenantMethods = (connection: TenantConnection): TenantMethods => {
  const own = OWN.map((name) => [name, connection[name].bind(connection)]);
  return { ...methodsOf(connection), ...Object.fromEntries(own) } as TenantMethods;
};

export const consoleMethods = ({ tenant, operator }: ConsoleConnection) => ({
  tenant: tenantMethods(tenant),
  operator: methodsOf(operator) as OperatorMethods,
});
