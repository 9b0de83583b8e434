// What a check or a listing brings along besides its question, as requests carry it.

import { CALL_CONTEXT_BYTES_MAX, type CallContext, type ContextGrant, hasContext } from '../../core/call-context.ts';
import { isJsonObject } from '../../core/json-members.ts';
import { CONTEXT_GRANTS_MAX } from '../../core/limits.ts';
import { condition, identifier, relation, subject } from './fields.ts';
import * as s from './schema.ts';

/** The canonical JSON of a context; only its form is demanded, not that it is canonical. */
function isContext(text: string): boolean {
  if (Buffer.byteLength(text) > CALL_CONTEXT_BYTES_MAX) return false;
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}

export const context = s.formOf('a context', isContext);

export const contextFrom = (wire: string): string => context.read(wire, 'context');

const callContext: s.Field<CallContext> = s.message<CallContext>({
  context: s.optional(context),
  contextGrants: s.as(
    'grants',
    s.optional(
      s.list(
        s.message<ContextGrant>({
          subject,
          relation,
          object: identifier,
          condition: s.optional(condition),
        }),
        { max: CONTEXT_GRANTS_MAX },
      ),
    ),
  ),
});

const perhapsContext = s.sparse(callContext);

export const callContextToWire = (call: CallContext): { readonly callContext?: unknown } =>
  hasContext(call) ? { callContext: callContext.write(call) } : {};

export const callContextFrom = (wire: unknown): CallContext => perhapsContext.read(wire, 'callContext') ?? {};

/** A query with the context of its call, which a message carries as one field. */
export const inContext = <Query extends object>(fields: s.FieldsOf<Query>): s.Field<Query & CallContext> =>
  s.converted(
    s.message<Query & { readonly callContext: CallContext | undefined }>({
      ...fields,
      callContext: perhapsContext,
    } as s.FieldsOf<Query & { readonly callContext: CallContext | undefined }>),
    (query: Query & CallContext) => ({ ...query, callContext: hasContext(query) ? query : undefined }),
    ({ callContext, ...query }) => ({ ...query, ...callContext }) as Query & CallContext,
  );
