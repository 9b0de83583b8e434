// The schema of an Avro file, and values by it (https://avro.apache.org/docs/1.12.0/specification/): records of plain
// fields, and unions of them. That is all that a backup of SpiceDB has; anything else is refused.

export class AvroError extends Error {}

const PRIMITIVES = ['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'] as const;
type Primitive = (typeof PRIMITIVES)[number];

/** Bytes of one string or one list of bytes: the largest schema that SpiceDB takes is smaller. */
const TEXT_BYTES_MAX = 4 * 1024 * 1024;
const FIELDS_MAX = 100;
const BRANCHES_MAX = 16;
/** Unions within records within unions. */
const NESTING_MAX = 4;

export type AvroSchema =
  | { readonly kind: Primitive }
  | { readonly kind: 'union'; readonly branches: readonly AvroSchema[] }
  | {
      readonly kind: 'record';
      readonly name: string;
      readonly fields: readonly { readonly name: string; readonly schema: AvroSchema }[];
    };

/** A value of a record also has the name of the record. */
export interface AvroRecord {
  readonly name: string;
  readonly fields: ReadonlyMap<string, AvroValue>;
}
export type AvroValue = null | boolean | number | bigint | string | Buffer | AvroRecord;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new AvroError('A text is not valid UTF-8.', { cause });
  }
}

const isPrimitive = (text: unknown): text is Primitive => PRIMITIVES.some((primitive) => primitive === text);

function recordIn(value: object, depth: number): AvroSchema {
  const { name, fields } = value as { readonly name?: unknown; readonly fields?: unknown };
  if (typeof name !== 'string' || !Array.isArray(fields) || fields.length > FIELDS_MAX) {
    throw new AvroError('The schema has a record without a name, or with too many fields.');
  }
  return {
    kind: 'record',
    // With or without its namespace.
    name: name.slice(name.lastIndexOf('.') + 1),
    fields: fields.map((field: unknown) => {
      const { name: fieldName, type } = Object(field);
      if (typeof fieldName !== 'string') throw new AvroError('The schema has a field without a name.');
      return { name: fieldName, schema: parseSchemaValue(type, depth + 1) };
    }),
  };
}

function parseSchemaValue(value: unknown, depth: number): AvroSchema {
  if (depth > NESTING_MAX) throw new AvroError('The schema is nested too deeply.');
  if (isPrimitive(value)) return { kind: value };
  if (Array.isArray(value) && value.length > 0 && value.length <= BRANCHES_MAX) {
    return { kind: 'union', branches: value.map((branch) => parseSchemaValue(branch, depth + 1)) };
  }
  if (typeof value === 'object' && value !== null && 'type' in value) {
    // A primitive with a logical type, such as a time.
    if (isPrimitive(value.type)) return { kind: value.type };
    if (value.type === 'record') return recordIn(value, depth);
  }
  throw new AvroError('The schema has a type that backups of SpiceDB do not have.');
}

export function parseAvroSchema(text: string): AvroSchema {
  try {
    return parseSchemaValue(JSON.parse(text), 0);
  } catch (error) {
    throw error instanceof AvroError ? error : new AvroError('The schema is not valid JSON.');
  }
}

/** Reads values one after another. Throws an AvroError at the first byte that is not there. */
export class AvroReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  get position(): number {
    return this.#at;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new AvroError('The file ends early.');
    this.#at += 1;
    return byte;
  }

  /** A whole number of up to 64 bits: in groups of seven, the sign in the lowest bit. */
  long(): bigint {
    let number = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      number |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, (number >> 1n) ^ -(number & 1n));
    }
    throw new AvroError('A number is longer than 64 bits.');
  }

  /** A length within bounds. */
  length(max: number): number {
    const length = this.long();
    if (length < 0n || length > BigInt(max)) throw new AvroError(`A length of ${length} is not possible here.`);
    return Number(length);
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new AvroError('The file ends early.');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  value(schema: AvroSchema): AvroValue {
    switch (schema.kind) {
      case 'null':
        return null;
      case 'boolean':
        return this.#byte() === 1;
      case 'int':
      case 'long':
        return this.long();
      case 'float':
        return this.take(4).readFloatLE();
      case 'double':
        return this.take(8).readDoubleLE();
      case 'bytes':
        return this.take(this.length(TEXT_BYTES_MAX));
      case 'string':
        return textOf(this.take(this.length(TEXT_BYTES_MAX)));
      case 'union': {
        const branch = schema.branches[this.length(schema.branches.length - 1)];
        if (branch === undefined) throw new AvroError('A union has no such branch.');
        return this.value(branch);
      }
      case 'record':
        return {
          name: schema.name,
          fields: new Map(schema.fields.map((field) => [field.name, this.value(field.schema)])),
        };
    }
  }
}
