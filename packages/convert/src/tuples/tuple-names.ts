// Maps the relations of tuples to relations of grantd. Different relations of a type never become the same one: a grant
// must not count for a relation that it was not made for.

import { readFile, stat } from 'node:fs/promises';
import { demandMembers, isJsonObject, type JsonObject } from '../../../../src/core/json-members.ts';
import { parseJson } from '../../../../src/core/text/json.ts';
import { utf8Text } from '../../../../src/core/text/utf8.ts';
import { isRelation, isRelationName, type Relation } from '../../../../src/core/tuples.ts';
import { isRuleName } from '../../../../src/rules/rule-set.ts';
import type { MapOption } from '../../../cli/src/converter.ts';
import { CliFailure, reasonOf } from '../../../cli/src/failures.ts';
import type { UsableConditions } from '../model/conditions.ts';
import type { MappedRelation } from '../model/relation-map.ts';
import { isStored, MODEL_BYTES_MAX, quote, type SourceModel, type SourceRelation } from '../model/source-model.ts';
import type { SourceTuple } from './source-tuple.ts';

/** What is wrong, as a sentence. */
interface Problem {
  readonly problem: string;
}

export interface TupleNames {
  /** The relation that a tuple grants. */
  relationOf(type: string, name: string): { readonly relation: Relation } | Problem;
  /** The name of a group: it may also be one that follows from others. */
  groupNameOf(type: string, name: string): { readonly name: string } | Problem;
  /** Why the model does not allow the tuple; undefined: it does, or there is no model. */
  objectionTo(tuple: SourceTuple): string | undefined;
}

/** By `TYPE#NAME`. */
export interface RelationMap {
  /** The relations of grants. */
  readonly granted: ReadonlyMap<string, Relation>;
  /** What is held, where that is not the relation of the grants: groups are named by it. */
  readonly held: ReadonlyMap<string, string>;
}

const keyOf = (type: string, name: string): string => `${type}#${name}`;

export const mapOf = (mapped: readonly MappedRelation[]): RelationMap => ({
  granted: new Map(mapped.map(({ type, name, relation }) => [keyOf(type, name), relation])),
  held: new Map(
    mapped
      .filter(({ relation, heldName }) => relation !== heldName)
      .map(({ type, name, heldName }) => [keyOf(type, name), heldName]),
  ),
});

/** The map in the form that "grantd rules convert --output" writes. */
export const relationMapRecord = ({ granted, held }: RelationMap): JsonObject => ({
  relation_map: Object.fromEntries(granted),
  ...(held.size === 0 ? {} : { name_map: Object.fromEntries(held) }),
});

/** Texts by `TYPE#NAME`. */
function entriesOf(value: unknown, field: string): readonly (readonly [string, string])[] {
  if (!isJsonObject(value)) throw new Error(`it has no object "${field}"`);
  return Object.entries(value).map(([key, name]) => {
    if (/^[^#]+#[^#]+$/.test(key) && typeof name === 'string' && isRuleName(name)) return [key, name];
    throw new Error(`${quote(key)} of "${field}" must be TYPE#NAME, and its value a name of grantd`);
  });
}

/** The relation map that "grantd rules convert --output" writes. */
export async function readRelationMap(file: string): Promise<RelationMap> {
  try {
    if ((await stat(file)).size > MODEL_BYTES_MAX) throw new Error(`it is longer than ${MODEL_BYTES_MAX / 1024} KiB`);
    const value = parseJson(utf8Text(await readFile(file)), 'The text');
    if (!isJsonObject(value)) throw new Error('it has no object "relation_map"');
    demandMembers(value, ['relation_map', 'name_map']);
    const granted = new Map<string, Relation>();
    const sources = new Map<string, string>();
    for (const [key, relation] of entriesOf(value.relation_map, 'relation_map')) {
      if (!isRelationName(relation)) continue;
      const target = keyOf(key.slice(0, key.indexOf('#')), relation);
      const other = sources.get(target);
      if (other !== undefined) throw new Error(`${quote(other)} and ${quote(key)} would be the same relation`);
      sources.set(target, key);
      granted.set(key, relation);
    }
    return { granted, held: new Map(entriesOf(value.name_map ?? {}, 'name_map')) };
  } catch (cause) {
    throw new CliFailure(`${file} is not a relation map: ${reasonOf(cause)}.`, undefined, { cause });
  }
}

const notMapped = (type: string, name: string): Problem => ({
  problem: `${quote(keyOf(type, name))} is not in the relation map: it follows from others, is left out, or is of another model.`,
});

/** A map without its model: it has every relation that may be imported. */
export function namesOfMap({ granted, held }: RelationMap): TupleNames {
  /** The key of each name in grantd. */
  const sources = new Map<string, string>();
  for (const [key, relation] of granted) {
    const type = key.slice(0, key.indexOf('#'));
    for (const name of [relation, held.get(key) ?? relation]) sources.set(keyOf(type, name), key);
  }
  return {
    relationOf(type, name) {
      const relation = granted.get(keyOf(type, name));
      return relation === undefined ? notMapped(type, name) : { relation };
    },
    groupNameOf(type, name) {
      const key = keyOf(type, name);
      const mapped = held.get(key) ?? granted.get(key);
      if (mapped !== undefined) return { name: mapped };
      // A name that follows from others stays; but it must not be the one that another relation has now.
      return sources.has(key) ? notMapped(type, name) : { name };
    },
    objectionTo: () => undefined,
  };
}

/** Names by the options alone, for tuples without a model. */
export function namesOfOptions(options: readonly MapOption[]): TupleNames {
  const optionFor = (type: string, name: string): MapOption | undefined =>
    options.find((option) => option.type === type && option.name === name) ??
    options.find((option) => option.type === undefined && option.name === name);
  /** Another name that an option maps to the same relation of the type. */
  const rivalOf = (type: string, name: string, target: string): string | undefined =>
    options.find((option) => option.name !== name && optionFor(type, option.name)?.relation === target)?.name;

  const targetOf = (type: string, name: string): { readonly name: string } | Problem => {
    const target = optionFor(type, name)?.relation ?? name;
    const rival = rivalOf(type, name, target);
    if (rival === undefined) return { name: target };
    return {
      problem: `${quote(name)} and ${quote(rival)} of ${quote(type)} would both be ${quote(target)}: map one of them to another relation, with --map '${type}#NAME=RELATION'.`,
    };
  };
  return {
    relationOf(type, name) {
      const target = targetOf(type, name);
      if ('problem' in target) return target;
      const isKnown = isRelation(target.name) || optionFor(type, name) !== undefined;
      if (isKnown && isRelationName(target.name)) return { relation: target.name };
      return {
        problem: `${quote(name)} is not a built-in relation: pass the --relation-map of the model, or say what it is with --map ${name.slice(0, 60)}=RELATION.`,
      };
    },
    groupNameOf: targetOf,
    objectionTo: () => undefined,
  };
}

function describeSubject({ subjectType, subjectId, subjectRelation, condition }: SourceTuple): string {
  const everyone = subjectId === '*' ? ':*' : '';
  const kind = `${subjectType}${subjectRelation === undefined ? everyone : `#${subjectRelation}`}`;
  return condition === undefined ? kind : `${kind} with ${condition.name}`;
}

export interface ModelOptions {
  /** Whether the file records expirations: without them, a tuple that expires must not become a permanent grant. */
  readonly hasExpirations: boolean;
  readonly usableConditions: UsableConditions;
}

function objectionBy(
  relation: SourceRelation,
  tuple: SourceTuple,
  { hasExpirations, usableConditions }: ModelOptions,
): string | undefined {
  const { subjectType, subjectId, subjectRelation, condition, expiresAt } = tuple;
  const fitting = relation.restrictions.filter(
    (each) =>
      each.type === subjectType &&
      each.relation === subjectRelation &&
      each.wildcard === (subjectId === '*') &&
      each.condition === condition?.name,
  );
  const key = quote(keyOf(tuple.objectType, tuple.relation));
  if (fitting.length === 0)
    return `The model does not allow ${quote(describeSubject(tuple))} as the subject of ${key}.`;
  if (condition !== undefined && !usableConditions.has(condition.name)) {
    return `Rules cannot evaluate the condition ${quote(condition.name)}: "grantd rules convert" says why.`;
  }
  if (expiresAt !== undefined) return undefined;
  if (fitting.every(({ expires }) => expires)) return `The model requires an expiration for ${key}, and there is none.`;
  if (!hasExpirations && fitting.some(({ expires }) => expires)) {
    return `The file does not record expirations, and ${key} may have one: back it up with a newer version of zed.`;
  }
  return undefined;
}

/** Names by the model. `map`: of its relations, as "grantd rules convert" maps them. */
export function namesOfModel(model: SourceModel, map: RelationMap, options: ModelOptions): TupleNames {
  const definitionOf = (type: string, name: string): SourceRelation | Problem => {
    const found = model.types.get(type)?.relations.get(name);
    return found ?? { problem: `The model does not define ${quote(keyOf(type, name))}.` };
  };
  return {
    relationOf(type, name) {
      const definition = definitionOf(type, name);
      if ('problem' in definition) return definition;
      if (!isStored(definition)) {
        return { problem: `${quote(keyOf(type, name))} only follows from others, so nothing can be granted by it.` };
      }
      const relation = map.granted.get(keyOf(type, name));
      return relation === undefined ? notMapped(type, name) : { relation };
    },
    groupNameOf(type, name) {
      const definition = definitionOf(type, name);
      if ('problem' in definition) return definition;
      const key = keyOf(type, name);
      if (!isStored(definition)) return { name };
      const mapped = map.held.get(key) ?? map.granted.get(key);
      return mapped === undefined ? notMapped(type, name) : { name: mapped };
    },
    objectionTo(tuple) {
      const definition = definitionOf(tuple.objectType, tuple.relation);
      return 'problem' in definition ? definition.problem : objectionBy(definition, tuple, options);
    },
  };
}
