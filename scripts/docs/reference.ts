// An OpenAPI document in the order in which people read it: sections of operations with their parameters, fields,
// examples and errors, and the types that occur in several places. docs/reference/api.md is rendered from it.
// Invariant: each operation of the document occurs exactly once.

import { ERROR_CATALOGUE, type ErrorCode, isErrorCode } from '../../src/core/errors.ts';
import { isJsonObject, type JsonObject } from '../../src/core/json-members.ts';
import { PROBLEM_CONTENT_TYPE } from '../../src/core/problem.ts';
import { OPERATIONS } from '../../src/http/operation-table.ts';
import { type CodeSample, codeSamplesOf } from './code-samples.ts';

/** A parameter, or a field of a body; `place` is where a parameter is. */
export interface Field {
  /** With the names around it: `checks[].subject`. */
  readonly name: string;
  readonly place?: string;
  /** In words: `string`, `array of Grant`. */
  readonly type: string;
  /** The types of the document that `type` names. */
  readonly refers: readonly string[];
  readonly required: boolean;
  readonly description: string;
}

export interface ReferenceBody {
  readonly contentType: string;
  readonly description: string;
  readonly fields: readonly Field[];
  /** As formatted JSON, or as the text that it is. */
  readonly example: string | undefined;
}

export interface ReferenceResponse {
  readonly status: string;
  readonly description: string;
  /** None: the response has no body. */
  readonly bodies: readonly ReferenceBody[];
}

export interface ReferenceOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Field[];
  readonly body: ReferenceBody | undefined;
  readonly successes: readonly ReferenceResponse[];
  /** Without those that every operation can return. */
  readonly errors: readonly ErrorCode[];
  readonly samples: readonly CodeSample[];
}

export interface ReferenceType {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly fields: readonly Field[];
}

export interface Reference {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly sections: readonly {
    readonly name: string;
    readonly description: string;
    readonly operations: readonly ReferenceOperation[];
  }[];
  readonly types: readonly ReferenceType[];
  /** Those that every operation can return. */
  readonly commonErrors: readonly ErrorCode[];
}

/** Levels of objects within objects that are shown as fields of the outermost one; deeper ones are only named. */
const NESTING_MAX = 4;
/** Values of an enum that are listed in its type. */
const LISTED_VALUES_MAX = 12;

const objectIn = (value: unknown, ...path: readonly string[]): JsonObject => {
  const found = path.reduce<unknown>((node, name) => (isJsonObject(node) ? node[name] : undefined), value);
  return isJsonObject(found) ? found : {};
};
const listIn = (value: JsonObject, name: string): readonly unknown[] => {
  const found = value[name];
  return Array.isArray(found) ? found : [];
};
const objectsIn = (value: JsonObject, name: string): readonly JsonObject[] => listIn(value, name).filter(isJsonObject);
const textIn = (value: JsonObject, name: string): string => {
  const found = value[name];
  return typeof found === 'string' ? found : '';
};
const textsIn = (value: JsonObject, name: string): readonly string[] =>
  listIn(value, name).filter((each) => typeof each === 'string');

const referredName = (schema: JsonObject): string | undefined =>
  /^#\/components\/\w+\/(?<name>[\w-]+)$/.exec(textIn(schema, '$ref'))?.groups?.name;

interface TypeText {
  readonly text: string;
  readonly refers: readonly string[];
}

const joined = (parts: readonly TypeText[]): TypeText => ({
  text: [...new Set(parts.map(({ text }) => text))].join(' or '),
  refers: parts.flatMap(({ refers }) => refers),
});

function typeOf(schema: JsonObject): TypeText {
  const name = referredName(schema);
  if (name !== undefined) return { text: name, refers: [name] };
  const alternatives = objectsIn(schema, 'anyOf');
  if (alternatives.length > 0) return joined(alternatives.map(typeOf));
  const values = listIn(schema, 'enum');
  if (values.length > 0 && values.length <= LISTED_VALUES_MAX) {
    return { text: values.map((value) => JSON.stringify(value)).join(' or '), refers: [] };
  }
  if (schema.const !== undefined) return { text: JSON.stringify(schema.const), refers: [] };
  if (schema.type === 'array') {
    const items = typeOf(objectIn(schema, 'items'));
    return { text: `array of ${items.text}`, refers: items.refers };
  }
  if (schema.format === 'date-time') return { text: 'timestamp', refers: [] };
  return { text: textIn(schema, 'type') || 'any value', refers: [] };
}

/** The object that a schema describes in place, behind arrays and beside `null`; undefined: it describes none. */
function inlineObject(schema: JsonObject): { readonly schema: JsonObject; readonly suffix: string } | undefined {
  if (schema.properties !== undefined) return { schema, suffix: '' };
  if (schema.type === 'array') {
    const items = inlineObject(objectIn(schema, 'items'));
    return items === undefined ? undefined : { schema: items.schema, suffix: `[]${items.suffix}` };
  }
  const found = objectsIn(schema, 'anyOf')
    .map(inlineObject)
    .filter((each) => each !== undefined);
  return found.length === 1 ? found[0] : undefined;
}

const firstSentence = (text: string): string => /^.*?\.(?= |$)/s.exec(text)?.[0] ?? text;

class Reader {
  readonly #schemas: JsonObject;

  constructor(document: JsonObject) {
    this.#schemas = objectIn(document, 'components', 'schemas');
  }

  #resolved(schema: JsonObject): JsonObject {
    const name = referredName(schema);
    return name === undefined ? schema : objectIn(this.#schemas, name);
  }

  /** Its own description, or the first sentence about the type that it refers to. */
  #descriptionOf(schema: JsonObject): string {
    const own = textIn(schema, 'description');
    if (own !== '') return own;
    const [alternative] = objectsIn(schema, 'anyOf');
    if (alternative !== undefined) return this.#descriptionOf(alternative);
    const type = schema.type === 'array' ? objectIn(schema, 'items') : schema;
    return firstSentence(textIn(this.#resolved(type), 'description'));
  }

  /** Of an object, or of what may be one of several. */
  fieldsOf(given: JsonObject, prefix = '', depth = 0): Field[] {
    const schema = this.#resolved(given);
    const alternatives = objectsIn(schema, 'anyOf');
    if (alternatives.length > 0) return this.#fieldsOfAny(alternatives, prefix, depth);
    const required = textsIn(schema, 'required');
    return Object.entries(objectIn(schema, 'properties')).flatMap(([name, value]) => {
      const property = isJsonObject(value) ? value : {};
      const { text, refers } = typeOf(property);
      const field = {
        name: `${prefix}${name}`,
        type: text,
        refers,
        required: required.includes(name),
        description: this.#descriptionOf(property),
      };
      const inner = depth < NESTING_MAX ? inlineObject(property) : undefined;
      if (inner === undefined) return [field];
      return [field, ...this.fieldsOf(inner.schema, `${prefix}${name}${inner.suffix}.`, depth + 1)];
    });
  }

  #fieldsOfAny(alternatives: readonly JsonObject[], prefix: string, depth: number): Field[] {
    const each = alternatives.map((schema) => this.fieldsOf(schema, prefix, depth));
    const byName = new Map<string, Field>();
    for (const field of each.flat()) if (!byName.has(field.name)) byName.set(field.name, field);
    return [...byName.values()].map((field) => ({
      ...field,
      required: each.every((fields) => fields.some(({ name, required }) => name === field.name && required)),
    }));
  }

  bodiesOf(content: JsonObject, description: string): ReferenceBody[] {
    return Object.entries(content).flatMap(([contentType, value]) => {
      if (!isJsonObject(value)) return [];
      const { example } = value;
      return [
        {
          contentType,
          description: description || textIn(this.#resolved(objectIn(value, 'schema')), 'description'),
          fields: this.fieldsOf(objectIn(value, 'schema')),
          example: example === undefined || typeof example === 'string' ? example : JSON.stringify(example, null, 2),
        },
      ];
    });
  }

  #parameterOf(parameter: JsonObject): Field {
    const schema = objectIn(parameter, 'schema');
    const { text, refers } = typeOf(schema);
    return {
      name: textIn(parameter, 'name'),
      place: textIn(parameter, 'in'),
      type: text,
      refers,
      required: parameter.required === true,
      description: textIn(parameter, 'description') || this.#descriptionOf(schema),
    };
  }

  errorsOf(operation: JsonObject): ErrorCode[] {
    return Object.values(objectIn(operation, 'responses')).flatMap((response) => {
      const problem = objectIn(response, 'content', PROBLEM_CONTENT_TYPE, 'schema');
      const narrowed = objectsIn(problem, 'allOf').map((part) => objectIn(part, 'properties', 'type'));
      return narrowed.flatMap((type) => textsIn(type, 'x-error-codes')).filter(isErrorCode);
    });
  }

  operationOf(path: string, method: string, operation: JsonObject, common: ReadonlySet<ErrorCode>): ReferenceOperation {
    const request = objectIn(operation, 'requestBody');
    const [body] = this.bodiesOf(objectIn(request, 'content'), textIn(request, 'description'));
    const successes = Object.entries(objectIn(operation, 'responses'))
      .filter(([status]) => Number(status) < 400)
      .map(([status, response]) => ({
        status,
        description: textIn(objectIn(response), 'description'),
        bodies: this.bodiesOf(objectIn(response, 'content'), ''),
      }));
    const id = textIn(operation, 'operationId');
    return {
      id,
      method: method.toUpperCase(),
      path,
      summary: textIn(operation, 'summary'),
      description: textIn(operation, 'description'),
      // Parameters of every request are described once.
      parameters: objectsIn(operation, 'parameters')
        .filter((each) => referredName(each) === undefined)
        .map((each) => this.#parameterOf(each)),
      body,
      successes,
      errors: this.errorsOf(operation).filter((code) => !common.has(code)),
      samples: OPERATIONS.filter((each) => each.id === id).flatMap(codeSamplesOf),
    };
  }

  /** The types that the fields name, and those that their fields name. */
  typesNamedBy(fields: readonly Field[]): ReferenceType[] {
    const types = new Map<string, ReferenceType>();
    const add = (names: readonly string[]): void => {
      for (const name of names) {
        if (types.has(name)) continue;
        const schema = objectIn(this.#schemas, name);
        const type = {
          name,
          type: typeOf(schema).text,
          description: textIn(schema, 'description'),
          fields: this.fieldsOf(schema),
        };
        types.set(name, type);
        add(type.fields.flatMap(({ refers }) => refers));
      }
    };
    add(fields.flatMap(({ refers }) => refers));
    return [...types.values()].sort((left, right) => left.name.localeCompare(right.name, 'en'));
  }
}

function operationsOf(document: JsonObject): { path: string; method: string; operation: JsonObject }[] {
  return Object.entries(objectIn(document, 'paths')).flatMap(([path, methods]) =>
    Object.entries(isJsonObject(methods) ? methods : {}).flatMap(([method, operation]) =>
      isJsonObject(operation) ? [{ path, method, operation }] : [],
    ),
  );
}

/** `document`: from `createOpenapiDocument`. */
export function readReference(document: JsonObject): Reference {
  const reader = new Reader(document);
  const found = operationsOf(document);
  const errors = found.map(({ operation }) => new Set(reader.errorsOf(operation)));
  const codes = Object.keys(ERROR_CATALOGUE).filter(isErrorCode);
  const commonErrors = codes.filter((code) => errors.every((each) => each.has(code)));
  const common = new Set(commonErrors);
  const sections = objectsIn(document, 'tags').map((tag) => ({
    name: textIn(tag, 'name'),
    description: textIn(tag, 'description'),
    operations: found
      .filter(({ operation }) => textsIn(operation, 'tags').includes(textIn(tag, 'name')))
      .map(({ path, method, operation }) => reader.operationOf(path, method, operation, common)),
  }));
  const fields = sections.flatMap(({ operations }) =>
    operations.flatMap(({ parameters, body, successes }) => [
      ...parameters,
      ...(body?.fields ?? []),
      ...successes.flatMap(({ bodies }) => bodies.flatMap((each) => each.fields)),
    ]),
  );
  const info = objectIn(document, 'info');
  return {
    title: textIn(info, 'title'),
    version: textIn(info, 'version'),
    description: textIn(info, 'description'),
    sections,
    types: reader.typesNamedBy(fields),
    commonErrors,
  };
}
