// What a check or a listing brings along besides its question, as requests carry it.

import { CALL_CONTEXT_BYTES_MAX, type CallContext, hasContext, type WithoutGrants } from '../../core/call-context.ts';
import { isCondition } from '../../core/grant-condition.ts';
import { isJsonObject } from '../../core/json-members.ts';
import { CONTEXT_GRANTS_MAX } from '../../core/limits.ts';
import { isIdentifier } from '../../core/tuples.ts';
import type { CallContext__Output, CallContext as WireContext } from '../gen/grantd/v1/CallContext.ts';
import type { WithoutGrants__Output } from '../gen/grantd/v1/WithoutGrants.ts';
import { demand } from '../wire-violation.ts';
import { tuplesFrom, tupleToWire } from './grants.ts';
import { relationFrom } from './request-fields.ts';

export const callContextToWire = (call: CallContext): { readonly callContext?: WireContext } =>
  hasContext(call)
    ? {
        callContext: {
          context: call.context ?? '',
          grants: (call.contextGrants ?? []).map((grant) => ({
            ...tupleToWire(grant),
            condition: grant.condition ?? '',
          })),
          ...(call.without === undefined ? {} : { without: call.without }),
        },
      }
    : {};

/** The canonical JSON of a context; only its form is demanded, not that it is canonical. */
export function contextFrom(text: string): string {
  demand(Buffer.byteLength(text) <= CALL_CONTEXT_BYTES_MAX, 'A context is longer than any valid one.');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  demand(isJsonObject(value), 'A context is not a JSON object.');
  return text;
}

function withoutFrom({ subject, relation, object }: WithoutGrants__Output): WithoutGrants {
  demand(`${subject}${relation}${object}` !== '', 'A call is to do without every grant.');
  demand(subject === '' || isIdentifier(subject), 'The subject of grants to do without is ill-formed.');
  demand(object === '' || isIdentifier(object), 'The object of grants to do without is ill-formed.');
  return {
    ...(subject === '' ? {} : { subject }),
    ...(relation === '' ? {} : { relation: relationFrom(relation) }),
    ...(object === '' ? {} : { object }),
  };
}

export function callContextFrom(wire: CallContext__Output | null): CallContext {
  if (wire === null) return {};
  const { context, grants, without } = wire;
  demand(grants.length <= CONTEXT_GRANTS_MAX, `A call has more than ${CONTEXT_GRANTS_MAX} context grants.`);
  const tuples = tuplesFrom(grants, 'context_grants');
  const contextGrants = tuples.map((tuple, index) => {
    const condition = grants[index]?.condition ?? '';
    demand(condition === '' || isCondition(condition), 'The condition of a context grant is ill-formed.');
    return condition === '' ? tuple : { ...tuple, condition };
  });
  return {
    ...(context === '' ? {} : { context: contextFrom(context) }),
    ...(contextGrants.length === 0 ? {} : { contextGrants }),
    ...(without === null ? {} : { without: withoutFrom(without) }),
  };
}
