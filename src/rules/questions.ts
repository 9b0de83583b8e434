// The question of a check or a listing: it names a built-in relation, or a name that the tenant's rules may define.
// Only the owner of the tenant knows which names they define.

import { GrantdError } from '../core/errors.ts';
import { isRelation, parseIdentifier, parseRelation, RELATIONS, refuseMissing, relationFault } from '../core/tuples.ts';
import { isRuleName } from './rule-set.ts';

export interface NamedTuple {
  readonly subject: string;
  /** A built-in relation, or a name that a rule may define. */
  readonly relation: string;
  readonly object: string;
}

/** What the relation of a question must be, for messages. */
export const RELATION_NAME_RULE = `one of ${RELATIONS.join(', ')}, or a name that a rule of the tenant defines`;

/** Throws `invalid-relation`; `list` and `index` name the place in the message. */
export function parseRelationName(value: unknown, list?: string, index = 0): string {
  return typeof value === 'string' && isRuleName(value) ? value : parseRelation(value, list, index, NAMED);
}

const NAMED = { must: RELATION_NAME_RULE, faultOf: relationFault };

/** Parses a tuple with any name in place of the relation. */
export function parseQuestion(
  subject: unknown,
  relation: unknown,
  object: unknown,
  list?: string,
  index = 0,
): NamedTuple {
  if (subject === undefined) refuseMissing({ subject, relation, object }, list, index, RELATION_NAME_RULE);
  const parsedSubject = parseIdentifier('subject', subject, list, index);
  if (relation === undefined) refuseMissing({ subject, relation, object }, list, index, RELATION_NAME_RULE);
  return {
    subject: parsedSubject,
    relation:
      typeof relation === 'string' && isRelation(relation) ? relation : parseRelationName(relation, list, index),
    object: parseIdentifier('object', object, list, index),
  };
}

/** For a name that is neither built in nor defined by a rule of the tenant. `list`: the field that contains it. */
export function undefinedName(name: string, list = '', index = 0): GrantdError {
  const field = list === '' ? 'relation' : `${list}[${index}].relation`;
  return new GrantdError(
    'invalid-relation',
    `"${field}" must be ${RELATION_NAME_RULE}; ${JSON.stringify(name)} ${relationFault(name)}.`,
  );
}
