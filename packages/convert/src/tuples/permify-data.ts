// Relationships and attributes of Permify, as its playground writes them: `account:1#owner@user:ann` and
// `account:1$balance|integer:4000`. Attributes become tuples of the relations that depend on them.

import type { YamlNode } from '../../../cli/src/yaml-file.ts';
import type { SourceAttribute, SourceModel, SourceRelation } from '../model/source-model.ts';
import { lineOf, type SourceEntry, type SourceTuple } from './source-tuple.ts';

const RELATIONSHIP =
  /^(?<objectType>\w+):(?<objectId>[^#\s]+)#(?<relation>\w+)@(?<subjectType>\w+):(?<subjectId>[^#\s]+)(?:#(?<subjectRelation>\w+|\.\.\.))?$/;
const ATTRIBUTE = /^(?<type>\w+):(?<id>[^$\s]+)\$(?<name>\w+)\|(?<kind>[a-z]+)(?<list>\[\])?:(?<value>.*)$/s;

const textOf = (item: YamlNode): string => (item.kind === 'text' ? item.text.trim() : '');

/** The items of "relationships". */
export function* entriesOfRelationships(items: readonly YamlNode[]): Generator<SourceEntry> {
  for (const item of items) {
    const text = textOf(item);
    const line = lineOf(item.line, text);
    const parts = RELATIONSHIP.exec(text)?.groups;
    if (parts === undefined) {
      yield { line, problem: 'A relationship must be type:id#relation@type:id or type:id#relation@type:id#relation.' };
      continue;
    }
    const { objectType = '', objectId = '', relation = '', subjectType = '', subjectId = '', subjectRelation } = parts;
    const group = subjectRelation === '...' ? undefined : subjectRelation;
    const tuple = { subjectType, subjectId, subjectRelation: group, relation, objectType, objectId };
    yield { line, tuple: { ...tuple, condition: undefined, expiresAt: undefined } };
  }
}

/** Undefined: the text is not a value of the type. */
function parseValue(kind: string, text: string): unknown {
  if (kind === 'string') return text;
  if (kind === 'boolean') return text === 'true' || (text === 'false' ? false : undefined);
  const number = text.trim() === '' ? Number.NaN : Number(text);
  return (kind === 'integer' && Number.isSafeInteger(number)) || (kind === 'double' && Number.isFinite(number))
    ? number
    : undefined;
}

/** What Permify takes for an attribute that is not there. */
const DEFAULTS: Readonly<Record<string, unknown>> = { bool: false, int: 0, double: 0, string: '' };
const defaultOf = (type: string): unknown => (type.startsWith('list<') ? [] : DEFAULTS[type]);

/** The attributes of one entity. */
interface EntityAttributes {
  readonly line: SourceEntry['line'];
  readonly objectType: string;
  readonly objectId: string;
  readonly values: Map<string, unknown>;
}

/** The grants to everybody that the attributes of an entity make of a relation. */
function tuplesOf(relation: SourceRelation, given: readonly SourceAttribute[], of: EntityAttributes): SourceTuple[] {
  const { objectType, objectId, values } = of;
  if (!given.some(({ name }) => values.has(name))) return [];
  const [first] = given;
  if (first !== undefined && first.parameter === undefined && values.get(first.name) !== true) return [];
  const context = Object.fromEntries(
    given.flatMap(({ name, type, parameter }) =>
      parameter === undefined ? [] : [[parameter, values.has(name) ? values.get(name) : defaultOf(type)] as const],
    ),
  );
  return relation.restrictions.map(({ type: subjectType, condition }) => ({
    subjectType,
    subjectId: '*',
    subjectRelation: undefined,
    relation: relation.name,
    objectType,
    objectId,
    condition: condition === undefined ? undefined : { name: condition, context },
    expiresAt: undefined,
  }));
}

/** The items of "attributes". */
export function* entriesOfAttributes({ types }: SourceModel, items: readonly YamlNode[]): Generator<SourceEntry> {
  const entities = new Map<string, EntityAttributes>();
  for (const item of items) {
    const text = textOf(item);
    const line = lineOf(item.line, text);
    const { type = '', id = '', name = '', kind = '', list, value = '' } = ATTRIBUTE.exec(text)?.groups ?? {};
    const values =
      list === undefined ? parseValue(kind, value) : value.split(',').map((each) => parseValue(kind, each));
    if (values === undefined || (Array.isArray(values) && values.includes(undefined))) {
      yield { line, problem: 'An attribute must be type:id$name|type:value, with a value of its type.' };
      continue;
    }
    const key = `${type}:${id}`;
    const entity = entities.get(key) ?? { line, objectType: type, objectId: id, values: new Map() };
    entity.values.set(name, values);
    entities.set(key, entity);
  }
  for (const entity of entities.values()) {
    for (const relation of types.get(entity.objectType)?.relations.values() ?? []) {
      for (const tuple of tuplesOf(relation, relation.attributes ?? [], entity)) yield { line: entity.line, tuple };
    }
  }
}
