// A world as a model of OpenFGA: a type for each namespace, a relation for each name.
//
// A relation that is followed ("viewer from parent") may have neither groups nor `*` nor rules of its own in OpenFGA,
// whereas grantd follows just the entities among those it is granted to. So such a relation is stored as two: one for
// entities, which is followed, and one for groups and everybody. The name itself is the union of both.

import type { NameElement } from '../../../src/rules/rule-set.ts';
import {
  type Grantable,
  grantableOf,
  isFollowed,
  NAMESPACES,
  namesOf,
  namesOn,
  ruleOf,
  type World,
} from '../universe.ts';

export const entitiesOf = (relation: string): string => `${relation}_entities`;
export const othersOf = (relation: string): string => `${relation}_others`;

/** Whether the relation is stored as two. */
export function isSplit(world: World, namespace: string, relation: string): boolean {
  const grantable = grantableOf(world, namespace, relation);
  if (grantable === undefined || !isFollowed(world, namespace, relation)) return false;
  const hasOthers = grantable.groups.length > 0 || grantable.everyone.length > 0;
  return hasOthers || ruleOf(world, namespace, relation) !== undefined;
}

/** The relation that stores a grant. */
export function storedAs(world: World, subject: string, relation: string, namespace: string): string {
  if (!isSplit(world, namespace, relation)) return relation;
  return subject.includes('#') || subject.endsWith(':*') ? othersOf(relation) : entitiesOf(relation);
}

interface SubjectType {
  readonly type: string;
  readonly relation?: string;
  readonly wildcard?: Readonly<Record<string, never>>;
}

const ofEntities = ({ entities }: Grantable): readonly SubjectType[] => entities.map((type) => ({ type }));
const ofOthers = ({ groups, everyone }: Grantable): readonly SubjectType[] => [
  ...groups.map(({ namespace, name }) => ({ type: namespace, relation: name })),
  ...everyone.map((type) => ({ type, wildcard: {} })),
];

const unionOf = (parts: readonly object[]): object =>
  parts.length === 1 ? (parts[0] as object) : { union: { child: parts } };

function typeOf(world: World, namespace: string): object {
  const relations: Record<string, object> = {};
  const subjectTypes: Record<string, object> = {};
  const store = (relation: string, types: readonly SubjectType[]): void => {
    relations[relation] = { this: {} };
    subjectTypes[relation] = { directly_related_user_types: types };
  };
  const partOf = ({ name, from }: NameElement): object => {
    if (from === undefined) return { computedUserset: { relation: name } };
    const tupleset = isSplit(world, namespace, from) ? entitiesOf(from) : from;
    return { tupleToUserset: { tupleset: { relation: tupleset }, computedUserset: { relation: name } } };
  };
  for (const name of namesOn(world, namespace)) {
    const grantable = grantableOf(world, namespace, name);
    const parts: object[] = namesOf(ruleOf(world, namespace, name)).map(partOf);
    if (grantable !== undefined && isSplit(world, namespace, name)) {
      store(entitiesOf(name), ofEntities(grantable));
      parts.unshift({ computedUserset: { relation: entitiesOf(name) } });
      const others = ofOthers(grantable);
      if (others.length > 0) {
        store(othersOf(name), others);
        parts.unshift({ computedUserset: { relation: othersOf(name) } });
      }
    } else if (grantable !== undefined) {
      store(name, [...ofEntities(grantable), ...ofOthers(grantable)]);
      parts.unshift({ this: {} });
    }
    relations[name] = unionOf(parts);
  }
  return { type: namespace, relations, metadata: { relations: subjectTypes } };
}

export const openfgaModel = (world: World): object => ({
  schema_version: '1.1',
  type_definitions: NAMESPACES.map((namespace) => typeOf(world, namespace)),
});
