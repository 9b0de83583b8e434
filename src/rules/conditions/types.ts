// The types of CEL that conditions use, and the names by which parameters are declared: those of OpenFGA and SpiceDB.

export type CelType =
  | {
      readonly kind:
        | 'bool'
        | 'int'
        | 'uint'
        | 'double'
        | 'string'
        | 'bytes'
        | 'null'
        | 'timestamp'
        | 'duration'
        | 'ipaddress'
        /** Known at run time only. */
        | 'dyn';
    }
  | { readonly kind: 'list'; readonly element: CelType }
  | { readonly kind: 'map'; readonly key: CelType; readonly value: CelType };

export const BOOL: CelType = { kind: 'bool' };
export const INT: CelType = { kind: 'int' };
export const UINT: CelType = { kind: 'uint' };
export const DOUBLE: CelType = { kind: 'double' };
export const STRING: CelType = { kind: 'string' };
export const BYTES: CelType = { kind: 'bytes' };
export const NULL: CelType = { kind: 'null' };
export const TIMESTAMP: CelType = { kind: 'timestamp' };
export const DURATION: CelType = { kind: 'duration' };
export const IPADDRESS: CelType = { kind: 'ipaddress' };
export const DYN: CelType = { kind: 'dyn' };
export const LIST: CelType = { kind: 'list', element: DYN };
export const MAP: CelType = { kind: 'map', key: DYN, value: DYN };

const PLAIN_TYPES: ReadonlyMap<string, CelType> = new Map([
  ['any', DYN],
  ['bool', BOOL],
  ['bytes', BYTES],
  ['double', DOUBLE],
  ['duration', DURATION],
  ['int', INT],
  ['ipaddress', IPADDRESS],
  ['string', STRING],
  ['timestamp', TIMESTAMP],
  ['uint', UINT],
]);

/** The types in the order in which messages list them. */
export const PARAMETER_TYPES = [...PLAIN_TYPES.keys(), 'list<T>', 'map<T>'];

/** `list<list<int>>` has two. */
const NESTING_MAX = 5;
const TYPE_LENGTH_MAX = 100;

function parse(text: string, nesting: number): CelType | undefined {
  const [, container, inner] = /^(list|map)<(.*)>$/.exec(text) ?? [];
  if (inner === undefined) return PLAIN_TYPES.get(text);
  const element = nesting === NESTING_MAX ? undefined : parse(inner, nesting + 1);
  if (element === undefined) return undefined;
  return container === 'list' ? { kind: 'list', element } : { kind: 'map', key: STRING, value: element };
}

/** The type that a declaration names; undefined: there is none of that name. The keys of a `map<T>` are strings. */
export const parseType = (text: string): CelType | undefined =>
  text.length > TYPE_LENGTH_MAX ? undefined : parse(text, 0);

/** The text of a type in messages and in declarations. */
export function typeText(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list<${typeText(type.element)}>`;
    case 'map':
      return type.key.kind === 'string'
        ? `map<${typeText(type.value)}>`
        : `map<${typeText(type.key)}, ${typeText(type.value)}>`;
    case 'dyn':
      return 'any';
    default:
      return type.kind;
  }
}

/** Whether a value of one type can be one of the other: the types are equal where both are known. */
export function areCompatible(left: CelType, right: CelType): boolean {
  if (left.kind === 'dyn' || right.kind === 'dyn') return true;
  if (left.kind === 'list') return right.kind === 'list' && areCompatible(left.element, right.element);
  if (left.kind === 'map') {
    return right.kind === 'map' && areCompatible(left.key, right.key) && areCompatible(left.value, right.value);
  }
  return left.kind === right.kind;
}

/** The most exact type that both have. */
export function commonType(left: CelType, right: CelType): CelType {
  if (left.kind === 'list' && right.kind === 'list') {
    return { kind: 'list', element: commonType(left.element, right.element) };
  }
  if (left.kind === 'map' && right.kind === 'map') {
    return { kind: 'map', key: commonType(left.key, right.key), value: commonType(left.value, right.value) };
  }
  return left.kind === right.kind ? left : DYN;
}
