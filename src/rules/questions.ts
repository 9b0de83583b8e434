// The question of a check or a listing: it names a built-in relation, or a name that the tenant's rules may define.
// Only the owner of the tenant knows which names they define.

import { GrantdError } from '../core/errors.ts';
import { firstNames, nearestName, shownNames } from '../core/json-members.ts';
import {
  isRelation,
  namespaceOf,
  parseIdentifier,
  parseRelation,
  RELATIONS,
  refuseMissing,
  relationFault,
} from '../core/tuples.ts';
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

/** The names of a tenant that a question may use, each once. */
export interface AskableNames {
  /** Those with a meaning on objects of the namespace that the question is about. */
  readonly here: readonly string[];
  readonly others: readonly string[];
}

/** Characters of the asked name that a message quotes. */
const QUOTED_LENGTH_MAX = 64;

function listedNames({ here, others }: AskableNames, object: string): string {
  if (here.length === 0) return `The names are ${firstNames(others)}.`;
  const all = [...here, ...others];
  const [on, count] = [`Names on ${namespaceOf(object)}: `, shownNames(all)];
  if (count <= here.length) return `${on}${firstNames(all, count)}.`;
  return `${on}${here.join(', ')}. Others: ${firstNames(others, count - here.length)}.`;
}

/** Denied names of one call that the answer says more about: finding the nearest one takes time. */
export const NAME_HINTS_MAX = 10;

/** The nearest name, if one is near, and the first of those that there are. `object`: as of `undefinedName`. */
export function nameHint(name: string, names: AskableNames, object: string): string {
  const nearest = nearestName(name, [...names.here, ...names.others]);
  const meant = nearest === undefined ? '' : `Did you mean ${JSON.stringify(nearest)}? `;
  return `${meant}${listedNames(names, object)}`;
}

/**
 * For a name that is neither a relation nor defined by a rule of the tenant. It names those that are: a key that may
 * ask learns them by asking. `object`: an object, or a namespace with a colon. `field`: that contains it.
 */
export function undefinedName(name: string, names: AskableNames, object: string, field = 'relation'): GrantdError {
  return new GrantdError(
    'invalid-relation',
    `"${field}" must be one of the names that the tenant has; ${JSON.stringify(name.slice(0, QUOTED_LENGTH_MAX))} is none of them. ${nameHint(name, names, object)}`,
  );
}

/** For a name that rules define on other namespaces alone, and that is no relation. `field`: that contains it. */
export const nameElsewhere = (name: string, namespace: string, others: readonly string[], field: string): GrantdError =>
  new GrantdError(
    'invalid-relation',
    `"${field}" must be a name of ${namespace}, where no rule defines ${name}: rules define it on ${firstNames(others)}.`,
  );
