// The types of a rule set in the form for writes: to which subjects a relation may be granted on objects of a
// namespace. A relation that no type names may be granted to any subject.

import { conditionNameOf } from '../core/grant-condition.ts';
import { memberAt } from '../core/json-members.ts';
import { namespaceOf, type Tuple } from '../core/tuples.ts';
import { parseGroup } from './compiled-rules.ts';
import { allowedNames } from './declared-conditions.ts';
import { NO_RULES, type RuleSet, type SubjectType, textOfSubjectType } from './rule-set.ts';

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
