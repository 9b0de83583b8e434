// The OpenAPI 3.1 description, generated from the operations and the schemas that validate them. Invariant: the same
// input gives the same document, and nothing in it depends on the machine except the two addresses passed in.

import { z } from 'zod';
import { ERROR_CATALOGUE, type ErrorCode } from '../../core/errors.ts';
import { WARNING_HEADER } from '../../core/service-warnings.ts';
import type { Operation, OperationTag } from '../operations/operation.ts';
import {
  actionSchema,
  defaultEntitySchema,
  entitySchema,
  foundEntitySchema,
  pageInfoSchema,
  SEARCH_PARTS,
} from '../schema/authzen-schemas.ts';
import { changeSchema } from '../schema/change-schemas.ts';
import { namespaceRelationSchema, ruleSchema, rulesPreviewSchema } from '../schema/rule-schemas.ts';
import {
  bulkAnswerSchema,
  conditionSchema,
  listedKeySchema,
  objectSchema,
  questionSchema,
  relationNameSchema,
  relationSchema,
  revocationSchema,
  scopeSchema,
  subjectSchema,
  viaSchema,
  writtenGrantSchema,
} from '../schema/schemas.ts';
import { codeSamplesOf } from './code-samples.ts';
import { HEADERS, headerRef, type JsonObject, PARAMETERS, RATE_LIMIT, REQUEST_ID } from './headers.ts';
import {
  jsonSchema,
  problemExamples,
  problemResponse,
  problemSchema,
  schemaRef,
  withReferencesInside,
} from './parts.ts';

/** Version of the interface, not of the program: +0.1 for an addition, +1 together with the path prefix. */
export const INTERFACE_VERSION = '1.0.0';

export interface OpenapiAddresses {
  /** Where the service is; `/` in the committed file. */
  readonly serverUrl: string;
  /** The base of the `type` of a problem; `/errors` in the committed file. */
  readonly errorsBase: string;
}

const JSON_CONTENT_TYPE = 'application/json';
const SECURITY_SCHEME = 'apiKey';

const TAGS: Readonly<Record<OperationTag, string>> = {
  Checks: 'Does this subject hold this relation on this object?',
  Grants: 'Create and revoke grants, one by one or many at once, and list them in both directions.',
  Namespaces: 'The namespaces of the tenant. Grants create theirs automatically.',
  Keys: 'API keys, with scopes and expiry.',
  Rules: 'What follows from grants: relations that imply others, groups, and what is public.',
  Changes: 'What has changed: as pages, or as a stream of events.',
  AuthZEN:
    'The AuthZEN Authorization API 1.0, in the words of policy decision and enforcement points. `GET /.well-known/authzen-configuration` needs no key and says where its endpoints are; it is a 404 where the base URL of the service is not https.',
  Description: 'This document.',
};

/** Announced but not served: named so that clients do not look for it in vain, and the paths stay free. */
const ANNOUNCED =
  'OAuth 2.0 is announced for a later version and not served by this one: `GET /v1/oauth/authorize`, `POST /v1/oauth/token`, `POST /v1/oauth/revoke` and `GET /v1/oauth/introspect` return 404 until then.';

/** Schemas that occur only within others; the operations name the rest. */
const PARTS: Readonly<Record<string, z.ZodType>> = {
  SubjectIdentifier: subjectSchema,
  Relation: relationSchema,
  RelationName: relationNameSchema,
  Question: questionSchema,
  Via: viaSchema,
  ObjectIdentifier: objectSchema,
  Scope: scopeSchema,
  BulkCheckAnswer: bulkAnswerSchema,
  Condition: conditionSchema,
  WrittenGrant: writtenGrantSchema,
  Revocation: revocationSchema,
  Key: listedKeySchema,
  Rule: ruleSchema,
  RulesPreview: rulesPreviewSchema,
  Change: changeSchema,
  NamespaceRelation: namespaceRelationSchema,
  AccessEntity: entitySchema,
  AccessAction: actionSchema,
  DefaultEntity: defaultEntitySchema,
  PageInfo: pageInfoSchema,
  FoundEntity: foundEntitySchema,
  ...SEARCH_PARTS,
};

/** Errors that any request to this operation can meet. */
function errorsOf({ scope, body, errors }: Operation): ErrorCode[] {
  return [
    'invalid-request',
    ...errors,
    'unauthorized',
    ...(scope === undefined ? [] : (['insufficient-scope'] as const)),
    'tenant-suspended',
    'request-timeout',
    ...(body === undefined ? [] : (['payload-too-large', 'unsupported-media-type'] as const)),
    'rate-limited',
    'header-fields-too-large',
    'internal',
    'unavailable',
    'overloaded',
  ];
}

function errorHeaders(status: number): JsonObject {
  const headers: JsonObject = { ...REQUEST_ID };
  // Responses given before the rate limit is consulted cannot show its state.
  if (status !== 401 && status !== 431) Object.assign(headers, RATE_LIMIT);
  if (status === 429 || status === 503) headers['Retry-After'] = headerRef('RetryAfter');
  if (status === 401) headers['WWW-Authenticate'] = headerRef('WwwAuthenticate');
  return headers;
}

function responsesOf(operation: Operation): JsonObject {
  const responses: JsonObject = {};
  for (const { status, description, schema, example, etag, feedCursor, warns, streams = [] } of operation.successes) {
    responses[status] = {
      description,
      headers: {
        ...REQUEST_ID,
        ...RATE_LIMIT,
        ...(etag === true ? { ETag: headerRef('ETag') } : {}),
        ...(feedCursor === true ? { 'X-Service-Cursor': headerRef('FeedCursor') } : {}),
        ...(warns === true ? { [WARNING_HEADER]: headerRef('Warning') } : {}),
      },
      ...(schema === undefined
        ? {}
        : {
            content: {
              [JSON_CONTENT_TYPE]: {
                schema: schemaRef(schema.name),
                ...(example === undefined ? {} : { example }),
              },
              ...Object.fromEntries(
                streams.map((stream) => [
                  stream.contentType,
                  { schema: schemaRef(stream.name), example: stream.example },
                ]),
              ),
            },
          }),
    };
  }
  for (const [status, codes] of Map.groupBy(errorsOf(operation), (code) => ERROR_CATALOGUE[code].httpStatus)) {
    responses[status] = problemResponse(status, codes, errorHeaders(status));
  }
  return responses;
}

const PART_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(PARTS).map(([name, schema]) => [JSON.stringify(jsonSchema(schema)), name]),
);

function headerParametersOf({ headers = {} }: Operation): JsonObject[] {
  return Object.entries(headers).map(([name, { description, example }]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
    example,
  }));
}

function parametersOf({ query, queryExamples, pathParameters }: Operation): JsonObject[] {
  const inPath = Object.entries(pathParameters ?? {}).map(([name, { description, example }]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: { type: 'string', minLength: 1 },
    example,
  }));
  if (query === undefined) return inPath;
  const required = new Set(z.toJSONSchema(query, { io: 'input' }).required ?? []);
  const inQuery = Object.entries(jsonSchema(query, 'output').properties ?? {}).map(([name, schema]) => {
    const { description, ...inline } = schema;
    const part = PART_NAMES.get(JSON.stringify(schema));
    const example = queryExamples?.[name];
    return {
      name,
      in: 'query',
      required: required.has(name),
      description,
      schema: part === undefined ? inline : schemaRef(part),
      ...(example === undefined ? {} : { example }),
    };
  });
  return [...inPath, ...inQuery];
}

function operationObject(operation: Operation): JsonObject {
  const { id, tag, summary, description, scope, body } = operation;
  const parameters = [
    ...parametersOf(operation),
    ...headerParametersOf(operation),
    { $ref: '#/components/parameters/ClientRequestId' },
  ];
  const needs = scope === undefined ? 'Any valid key may call it.' : `Needs the scope \`${scope}\`.`;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: `${description}\n\n${needs}`,
    security: [{ [SECURITY_SCHEME]: scope === undefined ? [] : [scope] }],
    parameters,
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: body.replaceableByQuery !== true,
            description: `At most ${body.bytesMax / 1024} KiB.`,
            content: {
              [JSON_CONTENT_TYPE]: { schema: schemaRef(body.name), example: body.example },
            },
          },
        }),
    responses: responsesOf(operation),
    'x-codeSamples': codeSamplesOf(operation),
  };
}

/** One schema per thing: what occurs in several places has one name, and is referred to. */
function schemasOf(operations: readonly Operation[]): JsonObject {
  const schemas: JsonObject = Object.fromEntries(
    Object.entries(PARTS).map(([name, schema]) => [name, jsonSchema(schema)]),
  );
  for (const { body, successes } of operations) {
    for (const named of [body, ...successes.flatMap(({ schema, streams = [] }) => [schema, ...streams])]) {
      if (named !== undefined) schemas[named.name] ??= jsonSchema(named.schema);
    }
  }
  const byText = new Map(Object.entries(schemas).map(([name, schema]) => [JSON.stringify(schema), name]));
  const referring = Object.entries(schemas).map(([name, schema]) => [
    name,
    withReferencesInside(Object(schema), byText),
  ]);
  return { ...Object.fromEntries(referring), Problem: problemSchema() };
}

export function createOpenapiDocument(operations: readonly Operation[], addresses: OpenapiAddresses): JsonObject {
  const { serverUrl, errorsBase } = addresses;
  const paths: JsonObject = {};
  for (const [path, group] of Map.groupBy(operations, (operation) => operation.path)) {
    paths[path] = Object.fromEntries(
      group.map((operation) => [operation.method.toLowerCase(), operationObject(operation)]),
    );
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'grantd',
      version: INTERFACE_VERSION,
      summary: 'Does this subject hold this relation on this object?',
      description:
        'Stores grants (subject, relation, object) and answers checks. Everything is scoped to the tenant of the API key. Clients must tolerate new optional fields in responses.\n\n' +
        ANNOUNCED,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        [SECURITY_SCHEME]: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'gk1_ and 81 characters of base62',
          description:
            'An API key. It belongs to one tenant and carries the scopes check:read, grant:write and admin; no scope implies another.',
        },
      },
      parameters: PARAMETERS,
      headers: HEADERS,
      examples: problemExamples(errorsBase),
      schemas: schemasOf(operations),
    },
  };
}
