// The OpenAPI 3.1 description of the operator's API, from its operations, their documentation and their schemas.
// Invariant: it has each operation and no other; an operation without documentation keeps the console from starting.

import type { z } from 'zod';
import { assert } from '../../../core/assert.ts';
import { FEED_WAIT_SECONDS_MAX } from '../../../core/change-feed.ts';
import { ERROR_CATALOGUE, type ErrorCode } from '../../../core/errors.ts';
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '../../../core/limits.ts';
import { HEADERS, headerRef, type JsonObject } from '../../../http/openapi/headers.ts';
import {
  jsonSchema,
  problemExamples,
  problemResponse,
  problemSchema,
  schemaRef,
  withReferencesInside,
} from '../../../http/openapi/parts.ts';
import { changeSchema } from '../../../http/schema/change-schemas.ts';
import { EXAMPLE_ETAG, EXAMPLE_KEY_ID } from '../../../http/schema/examples.ts';
import { ruleSchema, rulesPreviewSchema } from '../../../http/schema/rule-schemas.ts';
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
  writtenGrantSchema,
} from '../../../http/schema/schemas.ts';
import type { Operation } from '../operation.ts';
import { DOCUMENTATION } from './documentation.ts';
import { HEADER_NAMES, type OperatorDocumentation, type OperatorSuccess } from './operation-documentation.ts';

export const OPERATOR_API_PREFIX = '/operator/v1';
const INTERFACE_VERSION = '1.0.0';
const SECURITY_SCHEME = 'operatorToken';

const PARTS: Readonly<Record<string, z.ZodType>> = {
  SubjectIdentifier: subjectSchema,
  ObjectIdentifier: objectSchema,
  Relation: relationSchema,
  RelationName: relationNameSchema,
  Scope: scopeSchema,
  Question: questionSchema,
  BulkCheckAnswer: bulkAnswerSchema,
  Condition: conditionSchema,
  WrittenGrant: writtenGrantSchema,
  Revocation: revocationSchema,
  Key: listedKeySchema,
  Rule: ruleSchema,
  RulesPreview: rulesPreviewSchema,
  Change: changeSchema,
};

const TAGS: Readonly<Record<OperatorDocumentation['tag'], string>> = {
  Tenants: 'The customers of the service: create, change, suspend and delete them.',
  'Within a tenant':
    'What a key of the tenant may do, with all scopes and without a rate limit, also while it is suspended.',
  'Audit log and changes': 'Who has changed what, and what has changed.',
  'Import and export': 'Many grants, line by line.',
  'The cluster': 'Plans, slots, shards and their load.',
};

const PATH_PARAMETERS: Readonly<Record<string, { readonly description: string; readonly example: string }>> = {
  tenantId: { description: 'The id of the tenant.', example: 'ten_01jhm9r0g0e8xsg4k6t2v8w0yc' },
  keyId: { description: 'The id of the key, not the key itself.', example: EXAMPLE_KEY_ID },
};

const QUERY_PARAMETERS: Readonly<Record<string, string>> = {
  limit: 'Items per page: 1 to 1,000, 100 unless given.',
  cursor: 'The `next_cursor` of the previous page of the same query.',
  name: 'Only tenants with this text in their name or id (case-insensitive).',
  plan: 'Only tenants with this plan.',
  state: 'Only tenants in this state.',
  subject: 'Only grants of this subject. In a listing of grants, either this or `object`.',
  object: 'Only grants on this object. In a listing of grants, either this or `subject`.',
  relation: 'The relation; in listings under rules, also a name that a rule defines.',
  namespace: 'Only entities of this namespace.',
  via: '`direct`: only grants of the relation itself, and not what follows from the rules.',
  include:
    '`self`: also the groups of the object itself, which hold the relation because they consist of those who hold it.',
  dry_run: '`true`: change nothing, and answer what would change.',
  order: '`asc`: oldest first; `desc`: newest first.',
  since: 'Only what came at this time or later.',
  until: 'Only what came before this time.',
  action: 'Only changes with this action; of the change feed, several, separated by commas.',
  actor: 'Only changes by this actor: the id of a key, `operator:` and a name, or `system`.',
  request_id: 'Only changes made by this request.',
  format: 'The form of the body.',
  wait: 'For how many seconds to wait if there is nothing to tell.',
};

/** Of parameters that their shapes take as any text, since parsers of their own read them. */
const PARAMETER_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  subject: schemaRef('SubjectIdentifier'),
  object: schemaRef('ObjectIdentifier'),
  limit: { type: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT },
  wait: { type: 'integer', minimum: 0, maximum: FEED_WAIT_SECONDS_MAX, default: 0 },
};

const REQUEST_HEADERS = {
  'Idempotency-Key': {
    description: 'Makes the request repeatable; a new one for each thing to create.',
    example: '"8e03978e"',
  },
  'If-Match': { description: 'The revision that the rules must have.', example: EXAMPLE_ETAG },
  Accept: { description: 'Selects lines of JSON, as `format` does.', example: 'application/x-ndjson' },
} as const;

/** `/tenants/:tenantId` → `/tenants/{tenantId}` */
const openapiPath = (path: string): string => `${OPERATOR_API_PREFIX}${path.replaceAll(/:(\w+)/g, '{$1}')}`;

/** `operator-create-tenant` → `createTenant` */
const operationIdOf = (name: string): string =>
  name.replace(/^operator-/, '').replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

function parametersOf(
  { path }: Operation,
  { query = {}, required = [], headers = [] }: OperatorDocumentation,
): JsonObject[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    const told = PATH_PARAMETERS[name];
    assert(told !== undefined, `the parameter ${name} is documented`);
    return { name, in: 'path', required: true, ...told, schema: { type: 'string', minLength: 1 } };
  });
  const inQuery = Object.entries(query).map(([name, schema]) => {
    const description = QUERY_PARAMETERS[name];
    assert(description !== undefined, `the parameter ${name} is documented`);
    return {
      name,
      in: 'query',
      required: required.includes(name),
      description,
      schema: PARAMETER_SCHEMAS[name] ?? jsonSchema(schema),
    };
  });
  const inHeader = headers.map((name) => ({
    name,
    in: 'header',
    required: false,
    ...REQUEST_HEADERS[name],
    schema: { type: 'string' },
  }));
  return [...inPath, ...inQuery, ...inHeader];
}

const RESPONSE_HEADERS = { 'X-Service-Request-Id': headerRef('RequestId') };

function successResponse({ description, schema, lines = {}, header }: OperatorSuccess): JsonObject {
  const content = {
    ...(schema === undefined ? {} : { 'application/json': { schema: schemaRef(schema.name) } }),
    // Of lines, a schema can only say that they are text; what each of them is, the description names.
    ...Object.fromEntries(
      Object.entries(lines).map(([contentType, { name }]) => [
        contentType,
        { schema: { type: 'string', description: `Each line is a ${name}.`, 'x-line': schemaRef(name) } },
      ]),
    ),
  };
  return {
    description,
    headers: {
      ...RESPONSE_HEADERS,
      ...(header === undefined ? {} : { [header]: headerRef(HEADER_NAMES[header]) }),
    },
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}

function errorsOf({ path }: Operation, { body, errors = [] }: OperatorDocumentation): ErrorCode[] {
  return [
    'invalid-request',
    ...errors,
    'unauthorized',
    'insufficient-scope',
    ...(path.includes(':tenantId') ? (['tenant-not-found'] as const) : []),
    'request-timeout',
    ...(body === undefined ? [] : (['payload-too-large', 'unsupported-media-type'] as const)),
    'rate-limited',
    'header-fields-too-large',
    'internal',
    'unavailable',
    'overloaded',
  ];
}

function responsesOf(operation: Operation, documentation: OperatorDocumentation): JsonObject {
  const responses: JsonObject = {};
  for (const success of documentation.successes) responses[success.status] = successResponse(success);
  const byStatus = Map.groupBy(errorsOf(operation, documentation), (code) => ERROR_CATALOGUE[code].httpStatus);
  for (const [status, codes] of byStatus) {
    const headers: JsonObject = { ...RESPONSE_HEADERS };
    if (status === 429 || status === 503) headers['Retry-After'] = headerRef('RetryAfter');
    if (status === 401) headers['WWW-Authenticate'] = headerRef('WwwAuthenticate');
    responses[status] = problemResponse(status, codes, headers);
  }
  return responses;
}

function operationObject(operation: Operation, documentation: OperatorDocumentation): JsonObject {
  const { tag, summary, description, body } = documentation;
  return {
    operationId: operationIdOf(operation.name),
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    parameters: parametersOf(operation, documentation),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              [body.contentType ?? 'application/json']:
                body.contentType === undefined
                  ? { schema: schemaRef(body.name), example: body.example }
                  : {
                      schema: {
                        type: 'string',
                        description: `Each line is a ${body.name}.`,
                        'x-line': schemaRef(body.name),
                      },
                      example: body.example,
                    },
            },
          },
        }),
    responses: responsesOf(operation, documentation),
  };
}

function schemasOf(documented: readonly OperatorDocumentation[]): JsonObject {
  const named = documented.flatMap(({ body, successes }) => [
    ...(body === undefined ? [] : [body]),
    ...successes.flatMap(({ schema, lines = {} }) => [
      ...(schema === undefined ? [] : [schema]),
      ...Object.values(lines),
    ]),
  ]);
  const all = [...Object.entries(PARTS).map(([name, schema]) => ({ name, schema })), ...named];
  const schemas: JsonObject = {};
  for (const { name, schema } of all) schemas[name] ??= jsonSchema(schema);
  const byText = new Map(Object.entries(schemas).map(([name, schema]) => [JSON.stringify(schema), name]));
  const referring = Object.entries(schemas).map(([name, schema]) => [
    name,
    withReferencesInside(Object(schema), byText),
  ]);
  return { ...Object.fromEntries(referring), Problem: problemSchema() };
}

/** The headers that responses of this API refer to. */
const USED_HEADERS = ['RequestId', ...Object.values(HEADER_NAMES), 'RetryAfter', 'WwwAuthenticate'];

export function createOperatorOpenapi(operations: readonly Operation[], errorsBase: string): JsonObject {
  const documented = operations.map((operation) => {
    const documentation = DOCUMENTATION[operation.name];
    assert(documentation !== undefined, `the operation ${operation.name} is documented`);
    return { operation, documentation };
  });
  const paths = Object.fromEntries(
    [...Map.groupBy(documented, ({ operation }) => openapiPath(operation.path))].map(([path, group]) => [
      path,
      Object.fromEntries(
        group.map(({ operation, documentation }) => [
          operation.method.toLowerCase(),
          operationObject(operation, documentation),
        ]),
      ),
    ]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'grantd, for operators',
      version: INTERFACE_VERSION,
      summary: 'Tenants, their grants and keys, and the cluster.',
      description:
        'Tenants cannot use this API. GET is also answered to HEAD. Unknown and repeated fields of bodies are refused.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ [SECURITY_SCHEME]: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        [SECURITY_SCHEME]: { type: 'http', scheme: 'bearer', description: 'An operator token.' },
      },
      headers: Object.fromEntries(USED_HEADERS.map((name) => [name, HEADERS[name]])),
      examples: problemExamples(errorsBase),
      schemas: schemasOf(documented.map(({ documentation }) => documentation)),
    },
  };
}
