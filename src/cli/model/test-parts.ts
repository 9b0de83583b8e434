// The parts of model tests: grants as records, as the API takes them, or as texts; and errors at their places.

import { GrantdError } from '../../core/errors.ts';
import { parseCondition } from '../../core/grant-condition.ts';
import { parseExpiry } from '../../core/grant-expiry.ts';
import { demandMembers, isJsonObject } from '../../core/json-members.ts';
import { parseTuple, TUPLE_MEMBERS } from '../../core/tuples.ts';
import type { GrantedTuple } from '../../shard/shard.ts';
import { grantInText } from '../context-options.ts';
import type { Cursor } from '../yaml-cursor.ts';

const GRANT = [...TUPLE_MEMBERS, 'condition', 'expires_at'];

/** Passes on what the parsers of core refuse, with the place in the file. */
export function within<Value>(cursor: Cursor, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    throw error instanceof GrantdError ? cursor.failure(`is wrong: ${error.message}`) : error;
  }
}

/** A grant as text, `subject relation object`, which may stand in place of the object in lists of grants. */
export const grantFields = (value: unknown): unknown => (typeof value === 'string' ? grantInText(value) : value);

/** Throws a GrantdError that says what is wrong. `nowMs`: the wall clock. */
export function parseGrant(value: unknown, nowMs: number): GrantedTuple {
  const fields = grantFields(value);
  if (!isJsonObject(fields)) {
    throw new GrantdError(
      'invalid-request',
      'A grant must be an object with subject, relation and object, or these three as a text.',
    );
  }
  demandMembers(fields, GRANT);
  return {
    ...parseTuple(fields.subject, fields.relation, fields.object),
    ...parseCondition(fields.condition),
    ...parseExpiry(fields.expires_at, nowMs),
  };
}
