// The objects of the public API as the clients in Go, Java and Python see them, read from the OpenAPI file: a flat
// list of records whose fields have one of a few types. A schema that these types cannot express is an error, never a
// guess.

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

export type FieldType =
  | { readonly kind: 'text' | 'time' | 'integer' | 'boolean' | 'map' | 'any' }
  | { readonly kind: 'record'; readonly name: string }
  /** A text or a record, by the name of its schema. */
  | { readonly kind: 'textOr'; readonly name: string; readonly record: string }
  | { readonly kind: 'list'; readonly of: FieldType };

export interface Field {
  /** The name in JSON. */
  readonly name: string;
  readonly type: FieldType;
  readonly description: string;
  readonly required: boolean;
  readonly nullable: boolean;
}

export interface ApiRecord {
  readonly name: string;
  readonly description: string;
  readonly fields: readonly Field[];
}

/** Responses: the clients decode these, and refuse anything else. Their parts follow by themselves. */
const ANSWERS = [
  'CheckResult',
  'BulkCheckResult',
  'GrantList',
  'BulkWriteResult',
  'RevokeResult',
  'ObjectList',
  'SubjectList',
  'SubjectSets',
  'NamespaceList',
  'KeyList',
  'CreatedKey',
  'RuleSet',
  'RulesPreview',
  'RulesVersionList',
  'ChangeList',
  'ChangeLine',
  'Decision',
  'EntitySearchResult',
  'ActionSearchResult',
] as const;

/** Requests, which the clients send as callers provide them. */
const REQUESTS = [
  'Tuple',
  'Question',
  'Condition',
  'GrantRequest',
  'ContextGrant',
  'SetsRequest',
  'RuleSetRequest',
  'EvaluationRequest',
  'SubjectSearch',
  'ResourceSearch',
  'ActionSearch',
] as const;

/** Objects that the OpenAPI file describes in place, and better names for them than that of their place. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['ActionSearchResultResultsItem', 'FoundAction'],
  ['ChangeNamespace', 'ChangedNamespace'],
  ['ReasonGrantExcludes', 'ExcludedName'],
  ['ChangeFormerTerms', 'FormerTerms'],
  ['DecisionContext', 'DenialContext'],
  ['DecisionContextError', 'DenialError'],
  ['RulesPreviewRuleSet', 'RuleSet'],
  ['RulesPreviewVanishingItem', 'VanishingName'],
  ['RulesPreviewAccess', 'AccessChanges'],
  ['AccessChangesLost', 'AccessSide'],
  ['AccessChangesGained', 'AccessSide'],
  ['AccessSideRowsItem', 'AccessRow'],
  ['SetsRequestJoin', 'JoinQuery'],
  ['SubjectSetsAt', 'LogMoment'],
]);

const PREFIX = '#/components/schemas/';
const capitalized = (name: string): string =>
  name.replace(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase());

class Reader {
  readonly #schemas: Readonly<Record<string, Schema>>;
  readonly records = new Map<string, ApiRecord>();

  constructor(schemas: Readonly<Record<string, Schema>>) {
    this.#schemas = schemas;
  }

  read(name: string): void {
    const schema = this.#schemas[name];
    if (schema === undefined) throw new Error(`The OpenAPI file has no schema ${name}.`);
    this.#object(name, schema);
  }

  #object(place: string, schema: Schema): FieldType {
    const name = NAMES.get(place) ?? place;
    if (schema.properties === undefined) throw new Error(`${name} is not an object.`);
    if (!this.records.has(name)) {
      // Its place comes before those of its parts.
      this.records.set(name, { name, description: '', fields: [] });
      const fields = Object.entries(schema.properties).map(([field, of]): Field => {
        const { type, nullable } = this.#type(`${name}${capitalized(field)}`, of);
        const required = schema.required?.includes(field) ?? false;
        return { name: field, type, nullable, required, description: this.#description(of) };
      });
      this.records.set(name, { name, description: schema.description ?? '', fields });
    }
    return { kind: 'record', name };
  }

  #description({ $ref, description, anyOf }: Schema): string {
    if (description !== undefined) return description;
    if ($ref !== undefined) return this.#description(this.#schemas[$ref.slice(PREFIX.length)] ?? {});
    return anyOf?.[0]?.description ?? '';
  }

  #type(name: string, schema: Schema): { type: FieldType; nullable: boolean } {
    if (schema.anyOf !== undefined) {
      const [some, none, ...others] = schema.anyOf;
      if (some === undefined || none?.type !== 'null' || others.length > 0) throw new Error(`${name} is a union.`);
      return { type: this.#type(name, some).type, nullable: true };
    }
    if (Array.isArray(schema.type)) {
      const [type, none, ...others] = schema.type;
      if (none !== 'null' || others.length > 0) throw new Error(`${name} has several types.`);
      return { type: this.#plain(name, { ...schema, type }), nullable: true };
    }
    return { type: this.#plain(name, schema), nullable: false };
  }

  #textOr(name: string, [text, record, ...others]: readonly Schema[]): FieldType {
    const of = record === undefined ? undefined : this.#plain(name, record);
    if (text?.type !== 'string' || of?.kind !== 'record' || others.length > 0) throw new Error(`${name} is a union.`);
    return { kind: 'textOr', name, record: of.name };
  }

  #plain(name: string, schema: Schema): FieldType {
    if (schema.$ref !== undefined) {
      const target = schema.$ref.slice(PREFIX.length);
      const found = this.#schemas[target];
      if (found === undefined) throw new Error(`${name} refers to ${target}, which does not exist.`);
      return found.anyOf === undefined ? this.#plain(target, found) : this.#textOr(target, found.anyOf);
    }
    switch (schema.type) {
      case 'string':
        return { kind: schema.format === 'date-time' ? 'time' : 'text' };
      case 'integer':
        return { kind: 'integer' };
      case 'boolean':
        return { kind: 'boolean' };
      case 'array':
        if (schema.items === undefined) throw new Error(`${name} says nothing about its items.`);
        return { kind: 'list', of: this.#type(`${name}Item`, schema.items).type };
      case 'object':
        return schema.properties === undefined ? { kind: 'map' } : this.#object(name, schema);
      default:
        throw new Error(`${name} has a type that the clients do not know: ${String(schema.type)}.`);
    }
  }
}

function readAll(openapiText: string, names: readonly string[]): ApiRecord[] {
  const reader = new Reader(JSON.parse(openapiText).components.schemas);
  for (const name of names) reader.read(name);
  return [...reader.records.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export interface ApiRecords {
  readonly answers: readonly ApiRecord[];
  /** A record may be both. */
  readonly requests: readonly ApiRecord[];
}

export const readRecords = (openapiText: string): ApiRecords => ({
  answers: readAll(openapiText, ANSWERS),
  requests: readAll(openapiText, REQUESTS),
});

/** The `type`s of problems that the service knows. */
export function readErrorTypes(openapiText: string): readonly string[] {
  return JSON.parse(openapiText).components.schemas.Problem.properties.type['x-error-codes'];
}

/** An empty cursor would be the beginning. */
export const isCursor = (name: string): boolean => name === 'cursor' || name === 'next_cursor';

/** The words of a text, each behind a space, in lines that begin with `first` and then with `next`. */
export function wrapped(text: string, columnsMax: number, first: string, next = first): string {
  const lines: string[] = [];
  let line = first;
  for (const word of text.split(/\s+/)) {
    if (line.length + 1 + word.length > columnsMax && line.length > next.length) {
      lines.push(line);
      line = next;
    }
    line += ` ${word}`;
  }
  return [...lines, line].join('\n');
}
