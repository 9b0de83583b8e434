// The members of the objects that a caller gives. Invariant: no member is dropped in silence. One that nothing knows is
// an error, since a misspelt `context_grants` would turn a denial into a permission.
//
// A member is what a program can read: own and enumerable, inherited and enumerable, or a getter of a class. One that
// is undefined is absent. Each that is known is read once, however it is defined.

import { GrantdError } from './error.ts';

/**
 * The members of an object, or of each object of a list. `true`: the value is not looked into. A text: no member here,
 * although the API has it; the text says what to write instead.
 */
export interface KnownMembers {
  readonly [name: string]: true | string | KnownMembers;
}

/** All members of T. */
export type KnownOf<T> = { readonly [M in keyof T]-?: true | KnownMembers };

/** Builds the error for a sentence that begins with the quoted member. */
export type Refuse = (sentence: string) => Error;

const invalidRequest: Refuse = (sentence) => new GrantdError('invalid-request', 400, sentence);
export const invalidOption: Refuse = (sentence) => new TypeError(sentence);

export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** That of any realm. */
const isObjectPrototype = (value: object): boolean => Object.hasOwn(value, 'hasOwnProperty');

function* namesOf(value: object): Generator<string> {
  const seen = new Set<string>();
  for (let at: object | null = value; at !== null && !isObjectPrototype(at); at = Object.getPrototypeOf(at)) {
    for (const [name, { get, enumerable }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      const isGetter = at !== value && get !== undefined && name !== '__proto__';
      if (seen.has(name) || !(enumerable || isGetter)) continue;
      seen.add(name);
      yield name;
    }
  }
}

/** A plain object with the members of the given one. */
export function membersOf<T extends object>(value: T): T {
  const members = [...namesOf(value)].map((name) => [name, Reflect.get(value, name)] as const);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined)) as T;
}

/** How many characters have to be inserted, deleted or replaced to make one name of the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

const LENGTH_MAX = 100;
const namesIn = (known: KnownMembers): readonly string[] =>
  Object.keys(known).filter((name) => typeof known[name] !== 'string');
const plain = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');

function hintFor(name: string, members: KnownMembers): string {
  const { [name]: instead } = members;
  if (typeof instead === 'string') return instead;
  const known = namesIn(members);
  const near = known
    .map((each) => ({ each, away: distance(plain(name.slice(0, LENGTH_MAX)), plain(each)) }))
    .filter(({ each, away }) => away <= Math.max(1, each.length / 3))
    .sort((left, right) => left.away - right.away);
  const [nearest] = near;
  return nearest === undefined
    ? `known here: ${known.map((each) => JSON.stringify(each)).join(', ')}`
    : `the nearest known name is ${JSON.stringify(nearest.each)}`;
}

const at = (place: string, name: string): string => (place === '' ? name : `${place}.${name}`);

function knownValue(value: unknown, known: KnownMembers | true, place: string, refuse: Refuse): unknown {
  if (known === true || !isObject(value)) return value;
  if (!Array.isArray(value)) return copyOf(value, known, place, refuse);
  return value.map((each: unknown, index) => knownValue(each, known, `${place}[${index}]`, refuse));
}

function copyOf(value: object, known: KnownMembers, place: string, refuse: Refuse): object {
  for (const name of namesOf(value)) {
    if ((Object.hasOwn(known, name) && typeof known[name] !== 'string') || Reflect.get(value, name) === undefined)
      continue;
    const there = JSON.stringify(at(place, name.slice(0, LENGTH_MAX)));
    throw refuse(`${there} is unknown; ${hintFor(name, known)}.`);
  }
  const copy: Record<string, unknown> = {};
  for (const [name, below] of Object.entries(known)) {
    const member: unknown = Reflect.get(value, name);
    if (member !== undefined && typeof below !== 'string')
      copy[name] = knownValue(member, below, at(place, name), refuse);
  }
  return copy;
}

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'a list' : value === null || value === undefined ? String(value) : `a ${typeof value}`;

/** Throws for a list, a text and whatever else has no members: the arguments of a client for another language, say. */
export function objectOf<T extends object>(value: T, place = '', refuse = invalidRequest, known: KnownMembers = {}): T {
  if (isObject(value) && !Array.isArray(value)) return value;
  const there = place === '' ? 'The argument' : JSON.stringify(place);
  const names = namesIn(known).map((name) => JSON.stringify(name));
  const wanted = names.length === 0 ? 'an object' : `an object with ${names.join(', ')}`;
  throw refuse(`${there} must be ${wanted}, but is ${kindOf(value)}.`);
}

/** A plain copy of an object, all of whose members are known. Throws for another one: its place, the nearest name. */
export function knownMembers<T extends object>(
  value: T,
  known: KnownOf<T>,
  place = '',
  refuse: Refuse = invalidRequest,
): T {
  return copyOf(objectOf(value, place, refuse, known), known, place, refuse) as T;
}
