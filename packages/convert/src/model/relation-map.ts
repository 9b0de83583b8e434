// Names in grantd for the names of a model. Types and relations keep their names; relations that are not built-in
// become relations of the tenant's own. A relation whose grants are not enough to hold it (`[user] but not blocked`)
// keeps its name for what it means, and its grants get a relation beside it, `direct_NAME`. Within a type, different
// names map to different names, so that no grant ever counts for a relation that it was not made for.

import { isRelation, isRelationName, RELATIONS, type Relation } from '../../../../src/core/tuples.ts';
import { isRuleName, OWN_RELATIONS_MAX, SELF } from '../../../../src/rules/rule-set.ts';
import type { MapOption } from '../../../cli/src/converter.ts';
import { CliFailure } from '../../../cli/src/failures.ts';
import {
  type Expression,
  formatPlace,
  isStored,
  type Place,
  partsOf,
  quote,
  type SourceModel,
  type SourceType,
} from './source-model.ts';

export type MapReason = '--map' | 'same name' | 'grants alone do not suffice';

export interface MappedRelation {
  readonly type: string;
  readonly name: string;
  /** The relation of the grants. */
  readonly relation: Relation;
  /** What is checked. */
  readonly heldName: string;
  readonly reason: MapReason;
}

export interface NameMap {
  /** The name in grantd of a name of a type; undefined if the type does not define it. */
  nameOf(type: string, name: string): string | undefined;
  /** The relation of its grants; undefined if it cannot be granted. */
  grantedAs(type: string, name: string): Relation | undefined;
  /** The name of a type that has this name in grantd. */
  sourceOf(type: string, target: string): string | undefined;
  /** Relations that are granted and not built-in. */
  readonly ownRelations: readonly Relation[];
  /** The relations that an import translates, in the order of the files. */
  readonly mapped: readonly MappedRelation[];
}

const NAME_LENGTH_MAX = 64;

/** A namespace or the name of a condition: in grantd, names have no slash. */
export const withoutSlash = (name: string): string => name.replaceAll('/', '.');

/** The wanted name, or one with a number behind it that is not taken. */
export function freeName(wanted: string, taken: (name: string) => boolean): string {
  let name = wanted.slice(0, NAME_LENGTH_MAX);
  for (let number = 2; taken(name); number += 1) {
    const end = `_${number}`;
    name = `${wanted.slice(0, NAME_LENGTH_MAX - end.length)}${end}`;
  }
  return name;
}

/** Whether the stored tuples stand in a gate: then a tuple is not enough to hold the relation. */
function isGated(expression: Expression, inGate = false): boolean {
  if (expression.kind === 'stored') return inGate;
  return partsOf(expression).some((part) => isGated(part, inGate || expression.kind !== 'union'));
}

/** The names of a type while they are being mapped, both ways. */
class TypeNames {
  readonly type: SourceType;
  readonly held = new Map<string, string>();
  readonly granted = new Map<string, { readonly relation: Relation; readonly reason: MapReason }>();
  readonly sources = new Map<string, string>();

  constructor(type: SourceType) {
    this.type = type;
  }

  hold(name: string, target: string): void {
    this.#take(name, target);
    this.held.set(name, target);
  }

  #take(name: string, target: string): void {
    const other = this.sources.get(target);
    if (other !== undefined) {
      const type = this.type.name;
      throw new CliFailure(
        `${quote(name)} and ${quote(other)} of ${quote(type)} would both be "${target}". Map one of them to another relation, such as --map '${type}#${other}=…'.`,
      );
    }
    this.sources.set(target, name);
  }

  grant(name: string, relation: Relation, reason: MapReason): void {
    if (this.held.get(name) !== relation) this.#take(name, relation);
    this.granted.set(name, { relation, reason });
  }
}

function demandMapOptions({ types }: SourceModel, options: readonly MapOption[]): void {
  for (const { type, name } of options) {
    const candidates = type === undefined ? [...types.values()] : [types.get(type)];
    const relations = candidates.flatMap((candidate) => candidate?.relations.get(name) ?? []);
    if (relations.some(isStored)) continue;
    const where = type === undefined ? 'the model' : quote(type);
    throw new CliFailure(
      relations.length > 0
        ? `--map names ${quote(name)} of ${where}, which only follows from others: such names stay as they are.`
        : `--map names ${quote(name)} of ${where}, which is not defined there.`,
    );
  }
}

const LISTED_MAX = 50;

function listed(lines: readonly string[]): string {
  const more = lines.length > LISTED_MAX ? [`  and ${lines.length - LISTED_MAX} more`] : [];
  return [...lines.slice(0, LISTED_MAX).map((line) => `  ${line}`), ...more].join('\n');
}

/** Names have a form in grantd, and each type needs a namespace of its own. */
function demandForms({ types, conditions }: SourceModel, options: readonly MapOption[]): void {
  const wrong: string[] = [];
  const demand = (what: string, name: string, place: Place): void => {
    if (!isRuleName(name) || name === SELF) wrong.push(`${formatPlace(place)}: ${what}`);
  };
  const spaces = new Map<string, string>();
  for (const type of types.values()) {
    const namespace = withoutSlash(type.name);
    demand(`the type ${quote(type.name)}`, namespace, type.place);
    const other = spaces.get(namespace);
    if (other !== undefined) {
      throw new CliFailure(
        `${formatPlace(type.place)}: ${quote(type.name)} and ${quote(other)} would be one namespace.`,
      );
    }
    spaces.set(namespace, type.name);
    for (const { name, place } of type.relations.values()) {
      demand(`${quote(name)} of ${quote(type.name)}`, optionFor(options, type, name)?.relation ?? name, place);
    }
  }
  for (const { name, place } of conditions.values()) demand(`the condition ${quote(name)}`, withoutSlash(name), place);
  if (wrong.length === 0) return;
  throw new CliFailure(
    `These cannot be names in grantd:\n${listed(wrong)}\n  A name has a letter first, then up to 63 letters, digits, "_", "." or "-", and "${SELF}" is the object itself. Rename them in the file and in your tuples.`,
  );
}

const optionFor = (options: readonly MapOption[], type: SourceType, name: string): MapOption | undefined =>
  options.find((option) => option.type === type.name && option.name === name) ??
  options.find((option) => option.type === undefined && option.name === name);

function demandFewEnough(types: Iterable<SourceType>, options: readonly MapOption[]): void {
  const own = new Set<string>();
  for (const type of types) {
    for (const relation of type.relations.values()) {
      if (!isStored(relation)) continue;
      const target = optionFor(options, type, relation.name)?.relation;
      if (target === undefined && isGated(relation.expression)) own.add(`direct_${relation.name}`);
      else if (!isRelation(target ?? relation.name)) own.add(target ?? relation.name);
    }
  }
  if (own.size <= OWN_RELATIONS_MAX) return;
  const names = listed([...own]);
  throw new CliFailure(
    `The model has ${own.size} relations that are granted, besides the built-in ones; a tenant may have ${OWN_RELATIONS_MAX}:\n${names}\n  Map some of them to built-in relations with --map NAME=RELATION (${RELATIONS.join(', ')}), or to the same relation in different types.`,
  );
}

function mapType(type: SourceType, options: readonly MapOption[], directName: (name: string) => Relation): TypeNames {
  const names = new TypeNames(type);
  const relations = [...type.relations.values()].map((relation) => ({
    relation,
    gated: isStored(relation) && isGated(relation.expression),
    option: isStored(relation) ? optionFor(options, type, relation.name)?.relation : undefined,
  }));
  for (const { relation, gated, option } of relations) {
    names.hold(relation.name, gated ? relation.name : (option ?? relation.name));
  }
  for (const { relation, gated, option } of relations) {
    const held = names.held.get(relation.name);
    if (!isStored(relation) || held === undefined) continue;
    if (option !== undefined) names.grant(relation.name, option, '--map');
    else if (gated) names.grant(relation.name, directName(relation.name), 'grants alone do not suffice');
    else if (isRelationName(held)) names.grant(relation.name, held, 'same name');
  }
  return names;
}

/** Throws if a name has no form of grantd, two of a type would be the same, or there are too many. */
export function mapRelations(model: SourceModel, options: readonly MapOption[]): NameMap {
  demandMapOptions(model, options);
  demandForms(model, options);
  demandFewEnough(model.types.values(), options);
  const sourceTypes = [...model.types.values()];
  const taken = new Set<string>([
    ...RELATIONS,
    ...options.map(({ relation }) => relation),
    ...sourceTypes.flatMap(({ relations }) => [...relations.keys()]),
  ]);
  const directNames = new Map<string, Relation>();
  const directName = (name: string): Relation => {
    const known = directNames.get(name);
    if (known !== undefined) return known;
    const direct = freeName(`direct_${name}`, (each) => taken.has(each));
    if (!isRelationName(direct)) throw new CliFailure(`${quote(direct)} cannot be a relation.`);
    taken.add(direct);
    directNames.set(name, direct);
    return direct;
  };
  const types = new Map(sourceTypes.map((type) => [type.name, mapType(type, options, directName)]));
  const mapped = [...types.values()].flatMap(({ type, held, granted }) =>
    [...granted].map(([name, { relation, reason }]): MappedRelation => {
      return { type: type.name, name, relation, heldName: held.get(name) ?? name, reason };
    }),
  );
  return {
    nameOf: (type, name) => types.get(type)?.held.get(name),
    grantedAs: (type, name) => types.get(type)?.granted.get(name)?.relation,
    sourceOf: (type, target) => types.get(type)?.sources.get(target),
    ownRelations: [...new Set(mapped.map(({ relation }) => relation))].filter((relation) => !isRelation(relation)),
    mapped,
  };
}
