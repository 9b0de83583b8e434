// What a check or a listing brings along besides its question, as requests carry it.

import {
  CALL_CONTEXT_BYTES_MAX,
  type CallContext,
  type ContextGrant,
  hasContext,
  type WithoutGrants,
} from '../../core/call-context.ts';
import { isJsonObject } from '../../core/json-members.ts';
import { CONTEXT_GRANTS_MAX } from '../../core/limits.ts';
import { demand } from '../wire-violation.ts';
import { condition, identifier, relation } from './fields.ts';
import {
  as,
  converted,
  type Field,
  type FieldsOf,
  formOf,
  list,
  message,
  optional,
  refined,
  sparse,
} from './schema.ts';

/** The canonical JSON of a context; only its form is demanded, not that it is canonical. */
function isContext(text: string): boolean {
  if (Buffer.byteLength(text) > CALL_CONTEXT_BYTES_MAX) return false;
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}

export const context = formOf('a context', isContext);

export const contextFrom = (wire: string): string => context.read(wire, 'context');

const callContext: Field<CallContext> = message<CallContext>({
  context: optional(context),
  contextGrants: as(
    'grants',
    optional(
      list(
        message<ContextGrant>({ subject: identifier, relation, object: identifier, condition: optional(condition) }),
        {
          max: CONTEXT_GRANTS_MAX,
        },
      ),
    ),
  ),
  without: optional(
    refined(
      message<WithoutGrants>({ subject: sparse(identifier), relation: sparse(relation), object: sparse(identifier) }),
      (grants) => demand(Object.keys(grants).length > 0, 'A call is to do without every grant.'),
    ),
  ),
});

const perhapsContext = sparse(callContext);

export const callContextToWire = (call: CallContext): { readonly callContext?: unknown } =>
  hasContext(call) ? { callContext: callContext.write(call) } : {};

export const callContextFrom = (wire: unknown): CallContext => perhapsContext.read(wire, 'callContext') ?? {};

/** A query with the context of its call, which a message carries as one field. */
export const inContext = <Query extends object>(fields: FieldsOf<Query>): Field<Query & CallContext> =>
  converted(
    message<Query & { readonly callContext: CallContext | undefined }>({
      ...fields,
      callContext: perhapsContext,
    } as FieldsOf<Query & { readonly callContext: CallContext | undefined }>),
    (query: Query & CallContext) => ({ ...query, callContext: hasContext(query) ? query : undefined }),
    ({ callContext, ...query }) => ({ ...query, ...callContext }) as Query & CallContext,
  );
