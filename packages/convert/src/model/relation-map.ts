// Maps each relation of a model to a name in grantd: stored relations become built-in ones, and names that only follow
// from others stay. Within a type, different names map to different names, so that no grant ever counts for a relation
// that it was not made for.

import type { MapOption } from '../../../../src/cli/converter.ts';
import { CliFailure } from '../../../../src/cli/failures.ts';
import { isRelation, RELATIONS, type Relation } from '../../../../src/core/tuples.ts';
import { isRuleName } from '../../../../src/rules/rule-set.ts';
import {
  formatPlace,
  isStored,
  type Place,
  quote,
  type SourceModel,
  type SourceRelation,
  type SourceType,
} from './source-model.ts';

export type MapReason = '--map' | 'same name' | 'synonym' | 'what arrows follow';

export interface MappedRelation {
  readonly type: string;
  readonly name: string;
  readonly relation: Relation;
  readonly reason: MapReason;
}

export interface NameMap {
  /** The name in grantd of a name of a type; undefined if the type does not define it. */
  nameOf(type: string, name: string): string | undefined;
  /** The name of a type that has this name in grantd. */
  sourceOf(type: string, target: string): string | undefined;
  /** The relations that an import translates, in the order of the files. */
  readonly mapped: readonly MappedRelation[];
}

const SYNONYMS: ReadonlyMap<string, Relation> = new Map<string, Relation>([
  ['administrator', 'admin'],
  ['assignee', 'member'],
  ['author', 'owner'],
  ['collaborator', 'editor'],
  ['contributor', 'editor'],
  ['creator', 'owner'],
  ['maintainer', 'manager'],
  ['reader', 'viewer'],
  ['writer', 'editor'],
]);

/** The names of a type while they are being mapped, both ways. */
class TypeNames {
  readonly type: SourceType;
  readonly targets = new Map<string, string>();
  readonly sources = new Map<string, string>();
  readonly reasons = new Map<string, MapReason>();

  constructor(type: SourceType) {
    this.type = type;
  }

  set(name: string, target: string, reason?: MapReason): void {
    const other = this.sources.get(target);
    if (other !== undefined) {
      const type = this.type.name;
      throw new CliFailure(
        `${quote(name)} and ${quote(other)} of ${quote(type)} would both be "${target}". Map one of them to another relation, such as --map '${type}#${other}=…'. The relations are ${RELATIONS.join(', ')}.`,
      );
    }
    this.targets.set(name, target);
    this.sources.set(target, name);
    if (reason !== undefined) this.reasons.set(name, reason);
  }

  /** Stored relations that have no name yet. */
  open(): SourceRelation[] {
    return [...this.type.relations.values()].filter(({ name }) => !this.targets.has(name));
  }
}

function demandMapOptions(model: SourceModel, options: readonly MapOption[]): void {
  for (const { type, name } of options) {
    const types = type === undefined ? [...model.values()] : [model.get(type)];
    const relations = types.flatMap((candidate) => candidate?.relations.get(name) ?? []);
    if (relations.some(isStored)) continue;
    const where = type === undefined ? 'the model' : quote(type);
    throw new CliFailure(
      relations.length > 0
        ? `--map names ${quote(name)} of ${where}, which only follows from others: such names stay as they are.`
        : `--map names ${quote(name)} of ${where}, which is not defined there.`,
    );
  }
}

/** Namespaces and derived names have a form in grantd. */
function demandForms(names: readonly TypeNames[]): void {
  const wrong = names.flatMap(({ type, targets }) => [
    ...(isRuleName(type.name) ? [] : [`${formatPlace(type.place)}: the type ${quote(type.name)}`]),
    ...[...type.relations.values()]
      .filter(({ name }) => !isRuleName(targets.get(name) ?? 'x'))
      .map(({ name, place }) => `${formatPlace(place)}: ${quote(name)} of ${quote(type.name)}`),
  ]);
  if (wrong.length === 0) return;
  throw new CliFailure(
    `These cannot be names in grantd:\n${listed(wrong)}\n  A name has a letter first, then up to 63 letters, digits, "_", "." or "-". Rename them in the file and in your tuples.`,
  );
}

const LISTED_MAX = 50;

function listed(lines: readonly string[]): string {
  const more = lines.length > LISTED_MAX ? [`  and ${lines.length - LISTED_MAX} more`] : [];
  return [...lines.slice(0, LISTED_MAX).map((line) => `  ${line}`), ...more].join('\n');
}

/** No choice fits a type with more stored relations than there are built-in ones. */
function demandFewEnough(types: readonly TypeNames[], leftOut: (relation: SourceRelation) => boolean): void {
  for (const { type } of types) {
    const stored = [...type.relations.values()].filter((relation) => isStored(relation) && !leftOut(relation)).length;
    if (stored <= RELATIONS.length) continue;
    throw new CliFailure(
      `${formatPlace(type.place)}: ${quote(type.name)} has ${stored} relations that can be granted, and grantd has ${RELATIONS.length}: ${RELATIONS.join(', ')}. Give some of them a type of their own, such as a role whose members are granted one relation.`,
    );
  }
}

interface OpenName {
  readonly names: TypeNames;
  readonly place: Place;
  readonly key: string;
}

/** A possible choice for all of them, as a value of `--map` that can be used as it is. */
function choiceFor(open: readonly OpenName[]): string {
  const taken = new Map<TypeNames, Set<string>>();
  const choices = open.slice(0, LISTED_MAX).map(({ names, key }) => {
    const used = taken.get(names) ?? new Set(names.sources.keys());
    taken.set(names, used);
    const free = RELATIONS.findLast((each) => each !== 'parent' && !used.has(each));
    const choice = free ?? (used.has('parent') ? '…' : 'parent');
    used.add(choice);
    return `${key}=${choice}`;
  });
  return choices.join(',');
}

function demandAll(types: readonly TypeNames[]): void {
  const open = types.flatMap((names) =>
    names
      .open()
      .map(({ name, place }) => ({ names, place, key: `${names.type.name.slice(0, 64)}#${name.slice(0, 64)}` })),
  );
  if (open.length === 0) return;
  throw new CliFailure(
    `Choose a relation of grantd for each of these:\n${listed(open.map(({ place, key }) => `${formatPlace(place)}: ${key}`))}\n  For example: --map '${choiceFor(open)}'; without "TYPE#", for all types. The relations are ${RELATIONS.join(', ')}.\n  Within a type, each can be used once; any choice gives the same answers.`,
  );
}

/** `followed`: which relations of a type arrows follow. */
function mapType(
  type: SourceType,
  options: readonly MapOption[],
  leftOut: (relation: SourceRelation) => boolean,
  followed: ReadonlySet<string>,
): TypeNames {
  const names = new TypeNames(type);
  for (const general of [false, true]) {
    for (const option of options) {
      const relation = type.relations.get(option.name);
      const applies = general ? option.type === undefined : option.type === type.name;
      // A relation that is left out keeps its name, so that its groups do not become groups of another relation.
      if (!applies || relation === undefined || !isStored(relation) || leftOut(relation)) continue;
      if (!names.targets.has(option.name)) names.set(option.name, option.relation, '--map');
    }
  }
  for (const relation of names.open()) {
    const stays = !isStored(relation) || leftOut(relation);
    if (stays) names.set(relation.name, relation.name);
    else if (isRelation(relation.name)) names.set(relation.name, relation.name, 'same name');
  }
  for (const { name } of names.open()) {
    const synonym = SYNONYMS.get(name);
    if (synonym !== undefined && !names.sources.has(synonym)) names.set(name, synonym, 'synonym');
  }
  const [parent, ...others] = names.open().filter(({ name }) => followed.has(name));
  if (parent !== undefined && others.length === 0 && !names.sources.has('parent')) {
    names.set(parent.name, 'parent', 'what arrows follow');
  }
  return names;
}

/**
 * Throws if a relation has no name in grantd, or two of a type would have the same. `leftOut`: relations that are not
 * converted; they keep their names, so that no other relation takes one.
 */
export function mapRelations(
  model: SourceModel,
  options: readonly MapOption[],
  leftOut: (relation: SourceRelation) => boolean,
  followedOf: (type: SourceType) => ReadonlySet<string>,
): NameMap {
  demandMapOptions(model, options);
  const types = new Map([...model].map(([name, type]) => [name, mapType(type, options, leftOut, followedOf(type))]));
  demandFewEnough([...types.values()], leftOut);
  demandAll([...types.values()]);
  demandForms([...types.values()]);
  const mapped: MappedRelation[] = [];
  for (const { type, targets, reasons } of types.values()) {
    for (const relation of type.relations.values()) {
      const target = targets.get(relation.name);
      const reason = reasons.get(relation.name);
      if (reason === undefined || target === undefined || !isRelation(target)) continue;
      mapped.push({ type: type.name, name: relation.name, relation: target, reason });
    }
  }
  return {
    nameOf: (type, name) => types.get(type)?.targets.get(name),
    sourceOf: (type, target) => types.get(type)?.sources.get(target),
    mapped,
  };
}
