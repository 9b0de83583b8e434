// The parts of an OpenAPI 3.1 description that both interfaces share: JSON schemas with references, and problems.
// Invariant: what occurs in several places has one name under `components`, and is referred to.

import { z } from 'zod';
import { ERROR_CATALOGUE, type ErrorCode, isErrorCode } from '../../core/errors.ts';
import { PROBLEM_CONTENT_TYPE } from '../../core/problem.ts';
import { EXAMPLE_REQUEST_ID } from '../schema/examples.ts';
import type { JsonObject } from './headers.ts';

export const schemaRef = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

export function jsonSchema(schema: z.ZodType, io: 'input' | 'output' = 'input'): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io });
  return rest;
}

const typeUri = (code: ErrorCode, errorsBase: string): string => `${errorsBase}/${code}`;

const allErrorCodes = (): ErrorCode[] => Object.keys(ERROR_CATALOGUE).filter(isErrorCode);

/** The same on every host: a type ends with its code, after any base. New codes may come, so it is not an enum. */
export function problemSchema(): JsonObject {
  return {
    type: 'object',
    description: 'A problem document (RFC 9457, which succeeds RFC 7807). Match on `type`, not on `detail`.',
    properties: {
      type: {
        type: 'string',
        format: 'uri-reference',
        description: `A stable identifier, a URI: the base of the error pages, \`/\`, and a code. The page behind it says more. Later versions may add codes; the known ones are ${allErrorCodes()
          .map((code) => `\`${code}\``)
          .join(', ')}.`,
        'x-error-codes': allErrorCodes(),
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
}

/** A response with a problem, which is of one of the codes. */
export function problemResponse(status: number, codes: readonly ErrorCode[], headers: JsonObject): JsonObject {
  return {
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
  };
}

export function problemExamples(errorsBase: string): JsonObject {
  return Object.fromEntries(
    allErrorCodes().map((code) => {
      const { title, httpStatus, meaning } = ERROR_CATALOGUE[code];
      const type = typeUri(code, errorsBase);
      return [code, { value: { type, title, status: httpStatus, detail: meaning, instance: EXAMPLE_REQUEST_ID } }];
    }),
  );
}

/** Replaces every part of `value` that is one of the schemas by a reference to it. */
function withReferences(value: unknown, schemas: ReadonlyMap<string, string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const name = schemas.get(JSON.stringify(value));
  if (name !== undefined) return schemaRef(name);
  return withReferencesInside(value, schemas);
}

/** The same for every part of `value`, but not for itself. */
export function withReferencesInside(value: object, schemas: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((each) => withReferences(each, schemas));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withReferences(each, schemas)]));
}
