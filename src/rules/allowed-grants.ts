// Which grants the rules of a tenant allow: a relation may be granted only to subjects of its types, if it has any, and
// a grant may carry only a condition that is declared, with values that fit its parameters.

import { GrantdError } from '../core/errors.ts';
import { conditionContextOf, conditionNameOf, contextIn } from '../core/grant-terms.ts';
import { memberAt, nearestName } from '../core/json-members.ts';
import {
  EVERY_SUBJECT,
  isRelation,
  namespaceOf,
  onlyStatesMessage,
  type Relation,
  stateMessage,
  type Tuple,
  undeclaredMessage,
} from '../core/tuples.ts';
import { parseGroup } from './compiled-rules.ts';
import { convertValue, ValueRefusal } from './conditions/json-values.ts';
import { EVALUATION_STEPS_MAX, StepMeter } from './conditions/step-meter.ts';
import { DYN, parseType } from './conditions/types.ts';
import { NO_RULES, ownNames, type RuleSet, type SubjectType, textOfSubjectType } from './rule-set.ts';

/** Names that one message lists. */
const SHOWN_MAX = 20;

const quoted = (name: string): string => JSON.stringify(name);

/** Completes a sentence. `none`: what it says where nothing is allowed. */
function allowedNames(names: readonly string[], none: string): string {
  if (names.length === 0) return none;
  const shown = names.slice(0, SHOWN_MAX).map(quoted).join(', ');
  return names.length > SHOWN_MAX ? `allowed are ${shown} and others.` : `allowed: ${shown}.`;
}

function allowed(names: readonly string[], name: string, none: string): string {
  const nearest = nearestName(name, names);
  return nearest === undefined ? allowedNames(names, none) : `did you mean ${quoted(nearest)}?`;
}

/** The names that a tenant can grant besides the built-in relations. */
interface DeclaredNames {
  /** Own relations and states. */
  readonly relations: ReadonlySet<Relation>;
  readonly ruleSet: Pick<RuleSet, 'relations' | 'states'>;
}

/** Throws `invalid-relation` if no grant can have the relation. `declared`: called unless it is a built-in one. */
export function demandDeclared(relation: Relation, declared: () => DeclaredNames): void {
  if (isRelation(relation)) return;
  const { relations, ruleSet } = declared();
  if (relations.has(relation)) return;
  throw new GrantdError('invalid-relation', undeclaredMessage(relation, ownNames(ruleSet)));
}

/** Why a tuple cannot be a grant, whichever types there are. */
export interface TupleFault {
  readonly code: 'invalid-relation' | 'invalid-subject';
  readonly message: string;
}

/**
 * Undefined: the relation is declared, and the subject `*` if, and only if, it is a state. `declared`: called unless
 * the relation is a built-in one. `list`, `index`: the place of the tuple in its call.
 */
export function tupleFault(
  declared: () => DeclaredNames,
  { subject, relation }: Tuple,
  list?: string,
  index = 0,
): TupleFault | undefined {
  const isEvery = subject === EVERY_SUBJECT;
  if (isRelation(relation) && !isEvery) return undefined;
  const { relations, ruleSet } = declared();
  const { states } = ruleSet;
  if (states.includes(relation)) {
    return isEvery ? undefined : { code: 'invalid-subject', message: stateMessage(relation, list, index) };
  }
  if (isRelation(relation) || relations.has(relation)) {
    return isEvery ? { code: 'invalid-subject', message: onlyStatesMessage(states, list, index) } : undefined;
  }
  return { code: 'invalid-relation', message: undeclaredMessage(relation, ownNames(ruleSet), list, index) };
}

/**
 * Why a grant may not carry the condition, as a sentence that names what is allowed; undefined: it may. `place`: of the
 * grant in its call; empty: the body itself.
 */
export function undeclaredIn({ conditions }: RuleSet, condition: string, place = ''): string | undefined {
  const name = conditionNameOf(condition);
  const declared = conditions.find((each) => each.name === name);
  const field = memberAt(place, 'condition');
  if (declared === undefined) {
    const names = conditions.map((each) => each.name);
    return `"${field}.name" is ${quoted(name)}, which the rules do not declare; ${allowed(names, name, 'they declare no conditions.')}`;
  }
  const context = Object.entries(contextIn(conditionContextOf(condition)));
  const parameters = Object.keys(declared.parameters);
  const meter = new StepMeter(EVALUATION_STEPS_MAX);
  for (const [key, value] of context) {
    const at = memberAt(`${field}.context`, key);
    if (!parameters.includes(key)) {
      return `${quoted(at)} is not a parameter of the condition ${quoted(name)}; ${allowed(parameters, key, 'the condition has no parameters.')}`;
    }
    // Rules with an unknown type are refused when they are written.
    const converted = convertValue(value, parseType(declared.parameters[key] ?? '') ?? DYN, meter);
    if (converted instanceof ValueRefusal) return `${converted.textAt(at)}.`;
  }
  return undefined;
}

/** The conditions that `next` lacks, or of which it lacks a parameter or has one of another type. */
export function narrowedConditions(former: RuleSet, next: RuleSet): readonly string[] {
  const kept = new Map(next.conditions.map(({ name, parameters }) => [name, parameters]));
  const narrowed = former.conditions.filter(({ name, parameters }) => {
    const now = kept.get(name);
    return now === undefined || Object.entries(parameters).some(([parameter, type]) => now[parameter] !== type);
  });
  return narrowed.map(({ name }) => name);
}

/**
 * The kind of a subject by its form alone, whether the rules have groups and public namespaces or not. `condition`: of
 * the grant.
 */
function subjectTypeOf(subject: string, condition: string | undefined): SubjectType {
  const namespace = namespaceOf(subject);
  const group = parseGroup(subject);
  const of = group !== undefined ? 'group' : subject === `${namespace}:*` ? 'everyone' : 'single';
  return {
    namespace,
    of,
    ...(group === undefined ? {} : { name: group.name }),
    ...(condition === undefined ? {} : { condition: conditionNameOf(condition) }),
  };
}

export class SubjectTypes {
  /** By namespace and relation, as texts: `user`, `user:*`, `team#member`, `user with office_hours`. */
  readonly #allowed: ReadonlyMap<string, ReadonlySet<string>>;

  constructor({ types }: Pick<RuleSet, 'types'>) {
    this.#allowed = new Map(
      types.map(({ namespace, relation, subjects }) => [
        `${namespace} ${relation}`,
        new Set(subjects.map(textOfSubjectType)),
      ]),
    );
  }

  /** Whether they name the relation on objects of this namespace. */
  restricts({ relation, object }: Pick<Tuple, 'relation' | 'object'>): boolean {
    return this.#allowed.has(`${namespaceOf(object)} ${relation}`);
  }

  allows({ subject, relation, object, condition }: Tuple & { readonly condition?: string | undefined }): boolean {
    if (this.#allowed.size === 0) return true;
    const allowed = this.#allowed.get(`${namespaceOf(object)} ${relation}`);
    return allowed === undefined || allowed.has(textOfSubjectType(subjectTypeOf(subject, condition)));
  }

  /**
   * Why they do not allow a grant with the condition, as a sentence that names what is allowed; undefined: they do.
   * `place`: of the grant in its call; empty: the body itself.
   */
  faultOf({ subject, relation, object }: Tuple, condition: string | undefined, place = ''): string | undefined {
    if (this.allows({ subject, relation, object, condition })) return undefined;
    const [namespace, type] = [namespaceOf(object), textOfSubjectType(subjectTypeOf(subject, condition))];
    const allowed = this.#allowed.get(`${namespace} ${relation}`) ?? [];
    const names = allowedNames([...allowed], 'the types of the rules allow no subject.');
    return `"${memberAt(place, 'subject')}" is of the type "${type}", to which "${relation}" is not granted on objects of "${namespace}"; ${names}`;
  }
}

/** The types of `next` that exclude a kind of subject which `former` allows. */
export function narrowedTypes(
  former: Pick<RuleSet, 'types'>,
  next: Pick<RuleSet, 'types'>,
): readonly RuleSet['types'][number][] {
  const allowedBefore = new Map(
    former.types.map(({ namespace, relation, subjects }) => [
      `${namespace} ${relation}`,
      subjects.map(textOfSubjectType),
    ]),
  );
  return next.types.filter(({ namespace, relation, subjects }) => {
    const before = allowedBefore.get(`${namespace} ${relation}`);
    const allowed = new Set(subjects.map(textOfSubjectType));
    return before === undefined || !before.every((each) => allowed.has(each));
  });
}

export const NO_TYPES = new SubjectTypes(NO_RULES);
