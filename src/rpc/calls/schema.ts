// The words in which calls are declared, imported as `s`. A field says what a value is and how the wire carries it; the
// type of the value, its encoding, its validation and the random cases of the tests follow from that one declaration.
// Numbers and types on the wire are those of the proto file: a test holds the two to each other. Invariant: what is
// read keeps the declaration, or throws WireViolation, which names the field and never says the value.

import { demand } from '../wire-violation.ts';

type NumberType = 'uint32' | 'sint32' | 'int64' | 'uint64' | 'double';

/** What a field is made of, for the tests that derive cases from it. */
export type Shape =
  | { readonly kind: 'text'; readonly max: number }
  /** A text of a form that `name` names. */
  | { readonly kind: 'form'; readonly name: string }
  | { readonly kind: 'number'; readonly type: NumberType; readonly min: number; readonly max: number }
  | { readonly kind: 'flag' }
  | { readonly kind: 'word'; readonly words: readonly string[] }
  | { readonly kind: 'outcome'; readonly numbers: Readonly<Record<string, number>> }
  | { readonly kind: 'list'; readonly item: AnyField; readonly min: number; readonly max: number }
  | { readonly kind: 'message'; readonly fields: Readonly<Record<string, AnyField>> }
  /** Its default on the wire means something else, or nothing. */
  | { readonly kind: 'default'; readonly field: AnyField }
  | { readonly kind: 'converted'; readonly field: AnyField; readonly from: (wire: never) => unknown }
  /** Written and read by functions of its own. */
  | { readonly kind: 'own' };

interface FieldOptions {
  /** On the wire, if not as in the value. */
  readonly wireName?: string | undefined;
  /** An undefined value is no member of what is read. */
  readonly optional?: boolean | undefined;
}

export interface Field<Value> extends FieldOptions {
  readonly shape: Shape;
  /** Undefined and null: nothing is written. */
  readonly write: (value: Value) => unknown;
  /** Reads a value that the library has decoded. `name`: for the message of a violation. */
  readonly read: (wire: unknown, name: string) => Value;
}

/** What is read of a message with these fields. */
export type ValuesOf<Fields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends Field<infer Value> ? Value : never;
};

export interface AnyField extends FieldOptions {
  readonly shape: Shape;
  readonly write: (value: never) => unknown;
  readonly read: (wire: unknown, name: string) => unknown;
}

const same = <Value>(value: Value): Value => value;
// The library has decoded every field by the type that the proto file declares, which a test compares.
const given = (wire: unknown): never => wire as never;

// ---- leaves ----

export const flag: Field<boolean> = { shape: { kind: 'flag' }, write: same, read: given };

function number(type: NumberType, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY): Field<number> {
  const bounded = Number.isFinite(min) || Number.isFinite(max);
  return {
    shape: { kind: 'number', type, min, max },
    write: same,
    read: (wire, name) => {
      const value: number = given(wire);
      if (bounded) demand(value >= min && value <= max, `${name} is outside ${min} to ${max}.`);
      return value;
    },
  };
}

export const uint32 = number('uint32');
export const sint32 = number('sint32');
export const double = number('double');
export const int64 = number('int64');
/** Not negative, and exact as a number. */
export const count = number('int64', 0, Number.MAX_SAFE_INTEGER);
export const uint64 = number('uint64');
export const uint32In = (min: number, max: number): Field<number> => number('uint32', min, max);
export const int64In = (min: number, max: number): Field<number> => number('int64', min, max);

/** Length in UTF-16 units. */
export function textOf(max: number): Field<string> {
  return {
    shape: { kind: 'text', max },
    write: same,
    read: (wire, name) => {
      const value: string = given(wire);
      demand(value.length <= max, `${name} is longer than ${max}.`);
      return value;
    },
  };
}

export const text: Field<string> = {
  shape: { kind: 'text', max: Number.POSITIVE_INFINITY },
  write: same,
  read: given,
};

/** A text that `parse` makes something of; undefined: it is ill-formed. */
export function form<Value>(
  name: string,
  parse: (text: string) => Value | undefined,
  print: (value: Value) => unknown = same,
): Field<Value> {
  return {
    shape: { kind: 'form', name },
    write: print,
    read: (wire, field) => {
      const value = parse(given(wire));
      demand(value !== undefined, `${field} is not the text of ${name}.`);
      return value;
    },
  };
}

/** A text for which `is` holds. */
export const formOf = <Text extends string>(
  name: string,
  is: ((text: string) => text is Text) | ((text: string) => boolean),
): Field<Text> => form(name, (each) => (is(each) ? (each as Text) : undefined));

export function word<const Word extends string>(...words: readonly Word[]): Field<Word> {
  const known: ReadonlyMap<unknown, Word> = new Map(words.map((each) => [each, each]));
  return {
    shape: { kind: 'word', words },
    write: same,
    read: (wire, name) => {
      const value = known.get(wire);
      demand(value !== undefined, `${name} must be one of ${words.join(', ')}.`);
      return value;
    },
  };
}

/** A word that the wire carries as the number of an enum. */
export function outcome<Word extends string>(numbers: Readonly<Record<Word, number>>): Field<Word> {
  const words = new Map(Object.entries<number>(numbers).map(([each, wire]) => [wire, each as Word]));
  return {
    shape: { kind: 'outcome', numbers },
    write: (value) => numbers[value],
    read: (wire, name) => {
      const value = words.get(given(wire));
      demand(value !== undefined, `${name} is not a known outcome.`);
      return value;
    },
  };
}

// ---- compounds ----

export function list<Item>(
  item: Field<Item>,
  { min = 0, max = Number.POSITIVE_INFINITY } = {},
): Field<readonly Item[]> {
  const { read, write } = item;
  const plain = write === same;
  const raw = read === given;
  return {
    shape: { kind: 'list', item, min, max },
    // Most lists of texts are not copied.
    write: plain ? same : (items) => items.map((each) => write(each)),
    read: (wire, name) => {
      const items: unknown[] = given(wire);
      demand(items.length >= min && items.length <= max, `${name} has ${items.length} items.`);
      return raw ? (items as Item[]) : items.map((each) => read(each, name));
    },
  };
}

/** The fields of a message, one for each member of the value. */
export type FieldsOf<Value> = { readonly [Name in keyof Value]-?: Field<Value[Name]> };

/** A member of a message; undefined instead of a function: it crosses as it is. */
interface Member {
  readonly name: string;
  readonly wireName: string;
  readonly optional: boolean;
  readonly write: ((value: unknown) => unknown) | undefined;
  readonly read: AnyField['read'] | undefined;
}

export function message<Value extends object>(fields: FieldsOf<Value>): Field<Value> {
  const members = Object.entries<AnyField>(fields).map(
    ([name, { wireName = name, optional = false, read, write }]): Member => ({
      name,
      wireName,
      optional,
      read: read === given ? undefined : read,
      write: write === same ? undefined : (write as (value: unknown) => unknown),
    }),
  );
  return {
    shape: { kind: 'message', fields },
    write: (value) => {
      const wire: Record<string, unknown> = {};
      for (const { name, wireName, write } of members) {
        const member = (value as Record<string, unknown>)[name];
        wire[wireName] = write === undefined ? member : write(member);
      }
      return wire;
    },
    read: (wire, place) => {
      demand(wire !== null && wire !== undefined, `${place} is missing.`);
      const value: Record<string, unknown> = {};
      for (const { name, wireName, optional, read } of members) {
        const member = (wire as Record<string, unknown>)[wireName];
        const made = read === undefined ? member : read(member, name);
        if (!optional || made !== undefined) value[name] = made;
      }
      // Each member is what its field reads.
      return value as Value;
    },
  };
}

/** Where a member may be undefined, it may also be left out. */
type Sparse<Value> = Partial<Value> & {
  readonly [Name in keyof Value as undefined extends Value[Name] ? never : Name]: Value[Name];
};

/** A value that a message of these fields carries. */
export const messageOf = <Wire extends object, Value>(
  fields: FieldsOf<Wire>,
  to: (value: Value) => Sparse<Wire>,
  from: (wire: Wire) => Value,
): Field<Value> => converted(message<Wire>(fields), to as (value: Value) => Wire, from);

/** A value that the wire carries as another one. `from` may throw what it finds wrong. */
export const converted = <Wire, Value>(
  field: Field<Wire>,
  to: (value: Value) => Wire,
  from: (wire: Wire) => Value,
): Field<Value> => ({
  shape: { kind: 'converted', field, from },
  wireName: field.wireName,
  write: (value) => field.write(to(value)),
  read: (wire, name) => from(field.read(wire, name)),
});

/** The same value, if it is also what `demandIt` demands. */
export const refined = <Value>(field: Field<Value>, demandIt: (value: Value) => void): Field<Value> =>
  converted(field, same, (value) => {
    demandIt(value);
    return value;
  });

/** A message with one member is the value itself. */
export const only = <Value>(name: string, field: Field<Value>): Field<Value> =>
  converted(
    message<Record<string, Value>>({ [name]: field }),
    (value: Value) => ({ [name]: value }),
    (wire) => wire[name] as Value,
  );

export const as = <Value>(wireName: string, field: Field<Value>): Field<Value> => ({ ...field, wireName });

/** Written and read by functions of its own. */
export const own = <Value>(write: (value: Value) => unknown, read: (wire: never) => Value): Field<Value> => ({
  shape: { kind: 'own' },
  write,
  read: (wire) => {
    demand(wire !== null && wire !== undefined, 'A call lacks its request.');
    return read(given(wire));
  },
});

// ---- what is not there ----

function defaultOf({ kind, ...shape }: Shape): unknown {
  switch (kind) {
    case 'text':
    case 'form':
    case 'word':
      return '';
    case 'number':
    case 'outcome':
      return 0;
    case 'flag':
      return false;
    case 'converted':
      return 'field' in shape ? defaultOf(shape.field.shape) : null;
    default:
      return null;
  }
}

const isDefault = (wire: unknown, none: unknown): boolean =>
  wire === none || wire === null || wire === undefined || (none === null && Array.isArray(wire) && wire.length === 0);

/** The default of the wire means that there is no value. */
export function orUndefined<Value>(field: Field<Value>): Field<Value | undefined> {
  const none = defaultOf(field.shape);
  return {
    shape: { kind: 'default', field },
    wireName: field.wireName,
    write: (value) => (value === undefined ? none : field.write(value)),
    read: (wire, name) => (isDefault(wire, none) ? undefined : field.read(wire, name)),
  };
}

/** The same, where a value that is not there is no member. */
export const optional = <Value>(field: Field<Value>): Field<Value | undefined> => ({
  ...orUndefined(field),
  optional: true,
});

/** The same, where nothing is written for it. */
export const sparse = <Value>(field: Field<Value>): Field<Value | undefined> => ({
  ...optional(field),
  write: (value) => (value === undefined ? undefined : field.write(value)),
});

/** A value that is not there is the default of the wire. */
export function orDefault<Value>(field: Field<Value>): Field<Value | undefined> {
  const none = defaultOf(field.shape);
  return { ...field, write: (value) => (value === undefined ? none : field.write(value)) };
}

/** A message without fields. */
export const nothing = {
  shape: { kind: 'message', fields: {} },
  write: () => ({}),
  read: () => undefined,
} satisfies Field<undefined>;
