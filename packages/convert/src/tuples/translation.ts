// Decides whether a tuple of another system can be a grant, and which. A tuple that cannot be a grant with the same
// condition and the same expiration is refused: the grant would allow too much.

import { GrantdError } from '../../../../src/core/errors.ts';
import { expiryPassed, parseCondition, parseExpiry } from '../../../../src/core/grant-terms.ts';
import type { JsonObject } from '../../../../src/core/json-members.ts';
import { parseTuple } from '../../../../src/core/tuples.ts';
import { isRuleName } from '../../../../src/rules/rule-set.ts';
import type { ImportEntry, Refusal } from '../../../cli/src/import/import-lines.ts';
import { withoutSlash } from '../model/relation-map.ts';
import { quote } from '../model/source-model.ts';
import type { SourceEntry, SourceTuple } from './source-tuple.ts';
import type { TupleNames } from './tuple-names.ts';

/** The parts of rules that a tenant needs for its grants to count. */
export interface Needs {
  /** Grants to a group. */
  groups: number;
  /** Grants to every subject of a namespace, by the namespace. */
  readonly public: Map<string, number>;
}

/** Namespaces that are counted; no real model has more. */
const PUBLIC_MAX = 1000;

const refuse = (detail: string, code = 'invalid-request'): { readonly refusal: Refusal } => ({
  refusal: { code, detail },
});

interface GrantRecord {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  readonly expires_at?: string;
  readonly condition?: { readonly name: string; readonly context: JsonObject };
}

function subjectOf(tuple: SourceTuple, names: TupleNames): { readonly subject: string } | { readonly problem: string } {
  const { subjectType, subjectId, subjectRelation } = tuple;
  const entity = `${withoutSlash(subjectType)}:${subjectId}`;
  if (subjectRelation === undefined) return { subject: entity };
  if (subjectId === '*') return { problem: 'A subject cannot be both "*" and a group.' };
  const group = names.groupNameOf(subjectType, subjectRelation);
  if ('problem' in group) return group;
  if (!isRuleName(group.name)) return { problem: `${quote(group.name)} cannot be the name of a group.` };
  return { subject: `${entity}#${group.name}` };
}

function translate(tuple: SourceTuple, names: TupleNames, wallMs: number): GrantRecord | { readonly refusal: Refusal } {
  const { expiresAt } = tuple;
  const condition = tuple.condition && { ...tuple.condition, name: withoutSlash(tuple.condition.name) };
  const relation = names.relationOf(tuple.objectType, tuple.relation);
  if ('problem' in relation) return refuse(relation.problem, 'invalid-relation');
  const objection = names.objectionTo(tuple);
  if (objection !== undefined) return refuse(objection);
  const subject = subjectOf(tuple, names);
  if ('problem' in subject) return refuse(subject.problem, 'invalid-subject');
  // With "#", grantd would read a plain id as a group.
  if (tuple.subjectId.includes('#')) return refuse('The id of a subject cannot have a "#".', 'invalid-subject');
  if (tuple.objectId.includes('#')) return refuse('The id of an object cannot have a "#".', 'invalid-object');
  try {
    const grant = parseTuple(subject.subject, relation.relation, `${withoutSlash(tuple.objectType)}:${tuple.objectId}`);
    parseCondition(condition);
    const { expiresAtMs } = parseExpiry(expiresAt, wallMs);
    if (typeof expiresAtMs === 'number' && expiresAtMs <= wallMs) return refuse(expiryPassed());
    return {
      ...grant,
      ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
      ...(condition === undefined ? {} : { condition }),
    };
  } catch (error) {
    const { code, message } = GrantdError.from(error);
    return refuse(message, code);
  }
}

/** Adds to `needs`. `nowMs`: the wall clock. */
export function translateEntries(
  entries: readonly SourceEntry[],
  names: TupleNames,
  needs: Needs,
  nowMs: () => number,
): ImportEntry[] {
  return entries.map((entry): ImportEntry => {
    const { line } = entry;
    if ('problem' in entry) return { line, ...refuse(entry.problem) };
    const { tuple } = entry;
    const translated = translate(tuple, names, nowMs());
    if ('refusal' in translated) return { line, ...translated };
    if (tuple.subjectRelation !== undefined) needs.groups += 1;
    else if (tuple.subjectId === '*') {
      const namespace = withoutSlash(tuple.subjectType);
      const count = needs.public.get(namespace);
      if (count !== undefined || needs.public.size < PUBLIC_MAX) needs.public.set(namespace, (count ?? 0) + 1);
    }
    return { line, json: JSON.stringify(translated) };
  });
}
