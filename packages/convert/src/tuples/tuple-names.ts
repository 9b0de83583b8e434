// Maps the relations of tuples to relations of grantd. Different relations of a type never become the same one: a grant
// must not count for a relation that it was not made for.

import { readFile, stat } from 'node:fs/promises';
import type { MapOption } from '../../../../src/cli/converter.ts';
import { CliFailure, reasonOf } from '../../../../src/cli/failures.ts';
import { isJsonObject } from '../../../../src/core/json-members.ts';
import { isRelation, type Relation } from '../../../../src/core/tuples.ts';
import type { MappedRelation } from '../model/relation-map.ts';
import { isStored, MODEL_BYTES_MAX, quote, type SourceModel, type SourceRelation } from '../model/source-model.ts';
import type { SourceTuple } from './source-tuple.ts';

/** As a sentence. */
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

export type RelationMap = ReadonlyMap<string, Relation>;

const keyOf = (type: string, name: string): string => `${type}#${name}`;

export const mapOf = (mapped: readonly MappedRelation[]): RelationMap =>
  new Map(mapped.map(({ type, name, relation }) => [keyOf(type, name), relation]));

/** The relation map that "grantd rules convert --output" writes. */
export async function readRelationMap(file: string): Promise<RelationMap> {
  try {
    if ((await stat(file)).size > MODEL_BYTES_MAX) throw new Error(`it is longer than ${MODEL_BYTES_MAX / 1024} KiB`);
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    const entries = isJsonObject(value) && isJsonObject(value.relation_map) ? value.relation_map : undefined;
    if (entries === undefined) throw new Error('it has no object "relation_map"');
    const map = new Map<string, Relation>();
    const sources = new Map<string, string>();
    for (const [key, relation] of Object.entries(entries)) {
      if (!/^[^#]+#[^#]+$/.test(key) || typeof relation !== 'string' || !isRelation(relation)) {
        throw new Error(`${quote(key)} must be TYPE#NAME, and its value a relation of grantd`);
      }
      const target = keyOf(key.slice(0, key.indexOf('#')), relation);
      const other = sources.get(target);
      if (other !== undefined) throw new Error(`${quote(other)} and ${quote(key)} would be the same relation`);
      sources.set(target, key);
      map.set(key, relation);
    }
    return map;
  } catch (cause) {
    throw new CliFailure(`${file} is no relation map: ${reasonOf(cause)}.`, undefined, { cause });
  }
}

const notMapped = (type: string, name: string): Problem => ({
  problem: `${quote(keyOf(type, name))} is not in the relation map: it follows from others, is left out, or is of another model.`,
});

/** A map without its model: it has every relation that may be imported. */
export const namesOfMap = (map: RelationMap): TupleNames => ({
  relationOf(type, name) {
    const relation = map.get(keyOf(type, name));
    return relation === undefined ? notMapped(type, name) : { relation };
  },
  groupNameOf(type, name) {
    const mapped = map.get(keyOf(type, name));
    if (mapped !== undefined) return { name: mapped };
    // A name that follows from others stays; but it must not be the one that another relation has now.
    const other = [...map].find(([key, relation]) => relation === name && key.startsWith(`${type}#`));
    return other === undefined ? { name } : notMapped(type, name);
  },
  objectionTo: () => undefined,
});

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
      if (isRelation(target.name)) return { relation: target.name };
      return {
        problem: `${quote(name)} is no relation of grantd: say what it is with --map ${name.slice(0, 60)}=RELATION, or pass the --relation-map of the model.`,
      };
    },
    groupNameOf: targetOf,
    objectionTo: () => undefined,
  };
}

function describeSubject({ subjectType, subjectId, subjectRelation }: SourceTuple): string {
  if (subjectRelation !== undefined) return `${subjectType}#${subjectRelation}`;
  return subjectId === '*' ? `${subjectType}:*` : subjectType;
}

/** Whether the file records expirations: without them, a tuple that expires must not become a permanent grant. */
export interface ModelOptions {
  readonly hasExpirations: boolean;
}

function objectionBy(
  relation: SourceRelation,
  tuple: SourceTuple,
  { hasExpirations }: ModelOptions,
): string | undefined {
  const { subjectType, subjectId, subjectRelation, expiresAt } = tuple;
  const fitting = relation.restrictions.filter(
    (each) => each.type === subjectType && each.relation === subjectRelation && each.wildcard === (subjectId === '*'),
  );
  const key = quote(keyOf(tuple.objectType, tuple.relation));
  if (fitting.length === 0)
    return `The model does not allow ${quote(describeSubject(tuple))} as the subject of ${key}.`;
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
    const found = model.get(type)?.relations.get(name);
    return found ?? { problem: `The model does not define ${quote(keyOf(type, name))}.` };
  };
  const relationOf: TupleNames['relationOf'] = (type, name) => {
    const definition = definitionOf(type, name);
    if ('problem' in definition) return definition;
    const relation = map.get(keyOf(type, name));
    if (relation !== undefined && isStored(definition)) return { relation };
    const key = quote(keyOf(type, name));
    return {
      problem: isStored(definition)
        ? `${key} is left out, because rules cannot say what it means: "grantd rules convert" says why.`
        : `${key} only follows from others, so nothing can be granted by it.`,
    };
  };
  return {
    relationOf,
    groupNameOf(type, name) {
      const definition = definitionOf(type, name);
      if ('problem' in definition) return definition;
      if (!isStored(definition)) return { name };
      const mapped = relationOf(type, name);
      return 'problem' in mapped ? mapped : { name: mapped.relation };
    },
    objectionTo(tuple) {
      const definition = definitionOf(tuple.objectType, tuple.relation);
      return 'problem' in definition ? definition.problem : objectionBy(definition, tuple, options);
    },
  };
}
