// A world as a schema of SpiceDB: a definition for each namespace. A name that rules define is a permission; what is
// granted of it is a relation of its own. So is what is granted to `*`: a group may be named by a permission that has
// `*` in it, but not by a relation.
//
// An arrow may not follow a relation with `*` in SpiceDB, and it follows a group as if it were its object, whereas
// grantd follows neither. So a relation that is followed is stored as two: one for entities, which is followed, and one
// for groups and everybody.

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

const hasOthers = ({ groups, everyone }: Grantable): boolean => groups.length > 0 || everyone.length > 0;

interface Stored {
  readonly entities: string;
  /** The same where the relation is not stored as two. */
  readonly others: string;
}

function storedNames(world: World, namespace: string, grantable: Grantable): Stored {
  const { relation } = grantable;
  if (isFollowed(world, namespace, relation) && hasOthers(grantable))
    return { entities: `${relation}_entities`, others: `${relation}_others` };
  const isPlain = ruleOf(world, namespace, relation) === undefined && grantable.everyone.length === 0;
  const name = isPlain ? relation : `${relation}_granted`;
  return { entities: name, others: name };
}

/** The relation that stores a grant. */
export function spicedbRelation(world: World, subject: string, relation: string, namespace: string): string {
  const grantable = grantableOf(world, namespace, relation);
  if (grantable === undefined) throw new Error(`${relation} cannot be granted on ${namespace}.`);
  const { entities, others } = storedNames(world, namespace, grantable);
  return subject.includes('#') || subject.endsWith(':*') ? others : entities;
}

function linesOf(world: World, namespace: string, name: string): readonly string[] {
  const grantable = grantableOf(world, namespace, name);
  const elementOf = ({ name: element, from }: NameElement): string => {
    if (from === undefined) return element;
    const followed = grantableOf(world, namespace, from);
    if (followed === undefined) throw new Error(`${from} cannot be granted on ${namespace}.`);
    return `${storedNames(world, namespace, followed).entities}->${element}`;
  };
  const parts = namesOf(ruleOf(world, namespace, name)).map(elementOf);
  const lines: string[] = [];
  if (grantable !== undefined) {
    const stored = storedNames(world, namespace, grantable);
    const others = [
      ...grantable.groups.map((group) => `${group.namespace}#${group.name}`),
      ...grantable.everyone.map((each) => `${each}:*`),
    ];
    const isOne = stored.entities === stored.others;
    lines.push(`relation ${stored.entities}: ${[...grantable.entities, ...(isOne ? others : [])].join(' | ')}`);
    if (!isOne) lines.push(`relation ${stored.others}: ${others.join(' | ')}`);
    if (stored.entities === name) return lines;
    parts.unshift(stored.entities, ...(isOne ? [] : [stored.others]));
  }
  return [...lines, `permission ${name} = ${parts.join(' + ')}`];
}

export function spicedbSchema(world: World): string {
  return NAMESPACES.map((namespace) => {
    const lines = namesOn(world, namespace).flatMap((name) => linesOf(world, namespace, name));
    return `definition ${namespace} {\n${lines.map((line) => `  ${line}\n`).join('')}}\n`;
  }).join('\n');
}
