// Builds an OpenAPI 3.1 document from descriptions of operations, for both interfaces. Invariants: the same input gives
// the same document; what occurs in several places has one name under `components`, and is referred to.

import { z } from 'zod';
import { assert } from '../../core/assert.ts';
import { ERROR_CATALOGUE, type ErrorCode, isErrorCode } from '../../core/errors.ts';
import { PROBLEM_CONTENT_TYPE } from '../../core/problem.ts';
import { EXAMPLE_REQUEST_ID } from '../schema/examples.ts';
import type { BodyDescription, OperationDescription, ParameterDescriptions } from '../schema/operation-description.ts';
import { HEADERS, type HeaderName, headerRef, type JsonObject } from './headers.ts';

type Schemas = Readonly<Record<string, z.ZodType>>;

/** What an interface says about itself and about all of its operations. */
export interface DescribedInterface<Operation extends OperationDescription> {
  readonly title: string;
  readonly summary: string;
  readonly description: string;
  /** Each tag of an operation, and what it is about. */
  readonly tags: Readonly<Record<Operation['tag'], string>>;
  readonly securitySchemes: JsonObject;
  /** Security of every operation for which `detailsOf` gives none. */
  readonly security?: readonly JsonObject[];
  /** Parameters of paths, besides those that an operation describes itself. */
  readonly pathParameters?: ParameterDescriptions;
  /** Parameters of every operation, by their names under `components`. */
  readonly parameters?: JsonObject;
  /** Names under `components` of the headers that its responses have; undefined: all of them. */
  readonly headers?: readonly HeaderName[];
  /** Schemas that occur only within others; the operations name the rest. */
  readonly parts: Schemas;
  /** Headers of every response with this status. */
  headersOf(status: number): JsonObject;
  /** How authorization can refuse the operation. */
  refusalsOf(operation: Operation): readonly ErrorCode[];
  detailsOf?(operation: Operation): {
    readonly description: string;
    readonly security: readonly JsonObject[];
  };
}

export interface OpenapiAddresses {
  /** Where the service is; `/` in the committed file. */
  readonly serverUrl: string;
  /** The base of the `type` of a problem; `/errors` in the committed file. */
  readonly errorsBase: string;
}

/** Version of each interface, not of the program: +0.1 for an addition, +1 together with the path prefix. */
export const INTERFACE_VERSION = '1.0.0';

const JSON_CONTENT_TYPE = 'application/json';

const schemaRef = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** The two interfaces of a process share schemas, and converting them takes most of the time of a document. */
const converted = new WeakMap<z.ZodType, JsonObject>();

/** The same object each time, so nobody may change it. */
function jsonSchema(schema: z.ZodType): JsonObject {
  const known = converted.get(schema);
  if (known !== undefined) return known;
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' });
  converted.set(schema, rest);
  return rest;
}

// ---- operations ----

/**
 * A parameter's schema gives its description, too. A schema that cannot say all of it names its part (`part`), or says
 * that it must be given (`mandatory`), in its metadata.
 */
function queryParametersOf(
  { query, queryExamples = {} }: OperationDescription,
  partNames: ReadonlyMap<string, string>,
) {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(z.object(query), { io: 'input' });
  return Object.entries(properties).map(([name, schema]) => {
    assert(typeof schema === 'object' && schema.description !== undefined, `the parameter ${name} is documented`);
    const { description, part = partNames.get(JSON.stringify(schema)), mandatory, ...inline } = schema;
    const example = queryExamples[name];
    return {
      name,
      in: 'query',
      required: mandatory === true || required.includes(name),
      description,
      schema: typeof part === 'string' ? schemaRef(part) : inline,
      ...(example === undefined ? {} : { example }),
    };
  });
}

function pathParametersOf({ path, pathParameters }: OperationDescription, shared: ParameterDescriptions = {}) {
  const described = { ...shared, ...pathParameters };
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const parameter = described[name];
    assert(parameter !== undefined, `the parameter ${name} is documented`);
    const { description, example } = parameter;
    return { name, in: 'path', required: true, description, schema: { type: 'string', minLength: 1 }, example };
  });
}

const headerParametersOf = ({ headers = {} }: OperationDescription) =>
  Object.entries(headers).map(([name, { description, example }]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
    example,
  }));

/** For lines, a schema can only say that they are text; the description says what each line is. */
const contentOf = (bodies: readonly BodyDescription[]): JsonObject =>
  Object.fromEntries(
    bodies.map(({ name, example, contentType = JSON_CONTENT_TYPE, lines = false }) => {
      const schema = schemaRef(name);
      const text = { type: 'string', description: `Each line is a ${name}.`, 'x-line': schema };
      return [contentType, { schema: lines ? text : schema, ...(example === undefined ? {} : { example }) }];
    }),
  );

const RESPONSE_HEADERS = { ETag: 'ETag', 'X-Service-Cursor': 'FeedCursor', 'X-Service-Warning': 'Warning' } as const;

function responsesOf<Operation extends OperationDescription>(
  operation: Operation,
  { headersOf, refusalsOf }: DescribedInterface<Operation>,
): JsonObject {
  const responses: JsonObject = {};
  for (const { status, description, bodies, header } of operation.successes) {
    const headers = headersOf(status);
    for (const name of [header ?? []].flat()) headers[name] = headerRef(RESPONSE_HEADERS[name]);
    responses[status] = { description, headers, ...(bodies.length === 0 ? {} : { content: contentOf(bodies) }) };
  }
  const errors: readonly ErrorCode[] = [
    'invalid-request',
    ...(operation.errors ?? []),
    'unauthorized',
    ...refusalsOf(operation),
    'request-timeout',
    ...(operation.body === undefined ? [] : (['payload-too-large', 'unsupported-media-type'] as const)),
    'rate-limited',
    'header-fields-too-large',
    'internal',
    'unavailable',
    'overloaded',
  ];
  for (const [status, codes] of Map.groupBy(errors, (code) => ERROR_CATALOGUE[code].httpStatus)) {
    const headers = headersOf(status);
    if (status === 429 || status === 503) headers['Retry-After'] = headerRef('RetryAfter');
    if (status === 401) headers['WWW-Authenticate'] = headerRef('WwwAuthenticate');
    responses[status] = problemResponse(status, codes, headers);
  }
  return responses;
}

function describeOperation<Operation extends OperationDescription>(
  operation: Operation,
  described: DescribedInterface<Operation>,
  partNames: ReadonlyMap<string, string>,
): JsonObject {
  const { id, tag, summary, body } = operation;
  const details = described.detailsOf?.(operation);
  const description = details?.description ?? operation.description;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(details === undefined ? {} : { security: details.security }),
    parameters: [
      ...pathParametersOf(operation, described.pathParameters),
      ...queryParametersOf(operation, partNames),
      ...headerParametersOf(operation),
      ...Object.keys(described.parameters ?? {}).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: body.replaceableByQuery !== true,
            ...(body.bytesMax === undefined ? {} : { description: `At most ${body.bytesMax / 1024} KiB.` }),
            content: contentOf(body.text === undefined ? [body] : [body, body.text]),
          },
        }),
    responses: responsesOf(operation, described),
  };
}

// ---- problems ----

const ALL_CODES = Object.keys(ERROR_CATALOGUE).filter(isErrorCode);

/** The same on every host: a type ends with its code, after any base. New codes may come, so it is not an enum. */
const PROBLEM_SCHEMA = {
  type: 'object',
  description: 'A problem document (RFC 9457, which succeeds RFC 7807). Match on `type`, not on `detail`.',
  properties: {
    type: {
      type: 'string',
      format: 'uri-reference',
      description: `A stable identifier, a URI: the base of the error pages, \`/\`, and a code. The page behind it says more. Later versions may add codes; the known ones are ${ALL_CODES.map((code) => `\`${code}\``).join(', ')}.`,
      'x-error-codes': ALL_CODES,
    },
    title: { type: 'string', description: 'A short summary, the same for every occurrence.' },
    status: { type: 'integer', description: 'The HTTP status.', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'What is wrong with this request, and where.' },
    instance: { type: 'string', pattern: '^req_[0-9a-hjkmnp-tv-z]{26}$', description: 'The id of this request.' },
    key_id: { type: 'string', description: 'In an `already-created`, the API key that an earlier request created.' },
    'violated-policies': {
      type: 'array',
      items: { type: 'string' },
      description: 'In a 429, the names of the limits that are used up, as in `RateLimit`.',
    },
    earliest: { type: 'string', description: 'Only of `cursor-too-old`: where the change feed begins now.' },
  },
  required: ['type', 'title', 'status', 'detail', 'instance'],
};

/** A response with a problem of one of the codes. */
const problemResponse = (status: number, codes: readonly ErrorCode[], headers: JsonObject): JsonObject => ({
  description: codes.map((code) => `\`${code}\`: ${ERROR_CATALOGUE[code].title}.`).join(' '),
  headers,
  content: {
    [PROBLEM_CONTENT_TYPE]: {
      schema: {
        allOf: [
          schemaRef('Problem'),
          { type: 'object', properties: { type: { 'x-error-codes': codes }, status: { const: status } } },
        ],
      },
      examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
    },
  },
});

const problemExamples = (errorsBase: string): JsonObject =>
  Object.fromEntries(
    ALL_CODES.map((code) => {
      const { title, httpStatus, meaning } = ERROR_CATALOGUE[code];
      const type = `${errorsBase}/${code}`;
      return [code, { value: { type, title, status: httpStatus, detail: meaning, instance: EXAMPLE_REQUEST_ID } }];
    }),
  );

// ---- schemas ----

/** Replaces every part of `value` that is one of the schemas by a reference to it. */
function withReferences(value: unknown, schemas: ReadonlyMap<string, string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const name = schemas.get(JSON.stringify(value));
  return name === undefined ? withReferencesInside(value, schemas) : schemaRef(name);
}

/** The same for every part of `value`, but not for itself. */
function withReferencesInside(value: object, schemas: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((each) => withReferences(each, schemas));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withReferences(each, schemas)]));
}

const namesByText = (schemas: JsonObject): ReadonlyMap<string, string> =>
  new Map(Object.entries(schemas).map(([name, schema]) => [JSON.stringify(schema), name]));

function schemasOf(parts: JsonObject, operations: readonly OperationDescription[]): JsonObject {
  const schemas = { ...parts };
  for (const { body, successes } of operations) {
    for (const named of [...(body === undefined ? [] : [body]), ...successes.flatMap(({ bodies }) => bodies)]) {
      schemas[named.name] ??= jsonSchema(named.schema);
    }
  }
  const byText = namesByText(schemas);
  const referring = Object.entries(schemas).map(([name, schema]) => [
    name,
    withReferencesInside(Object(schema), byText),
  ]);
  return { ...Object.fromEntries(referring), Problem: PROBLEM_SCHEMA };
}

export function createDocument<Operation extends OperationDescription>(
  described: DescribedInterface<Operation>,
  operations: readonly Operation[],
  { serverUrl, errorsBase }: OpenapiAddresses,
): JsonObject {
  const { title, summary, description, security, tags, securitySchemes, parameters, headers } = described;
  const parts = Object.fromEntries(Object.entries(described.parts).map(([name, schema]) => [name, jsonSchema(schema)]));
  const partNames = namesByText(parts);
  const paths: JsonObject = {};
  for (const [path, group] of Map.groupBy(operations, (operation) => operation.path)) {
    paths[path] = Object.fromEntries(
      group.map((operation) => [operation.method.toLowerCase(), describeOperation(operation, described, partNames)]),
    );
  }
  const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' };
  return {
    openapi: '3.1.0',
    info: { title, version: INTERFACE_VERSION, summary, description, license },
    servers: [{ url: serverUrl }],
    ...(security === undefined ? {} : { security }),
    tags: Object.entries(tags).map(([name, meaning]) => ({ name, description: meaning })),
    paths,
    components: {
      securitySchemes,
      ...(parameters === undefined ? {} : { parameters }),
      headers: headers === undefined ? HEADERS : Object.fromEntries(headers.map((name) => [name, HEADERS[name]])),
      examples: problemExamples(errorsBase),
      schemas: schemasOf(parts, operations),
    },
  };
}
