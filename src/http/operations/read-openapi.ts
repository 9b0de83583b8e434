// GET /openapi.json: the machine-readable description of the interface.

import { z } from 'zod';
import type { Operation } from './operation.ts';

export function createReadOpenapi(readText: () => string): Operation {
  return {
    id: 'readOpenapi',
    method: 'GET',
    path: '/openapi.json',
    scope: undefined,
    tag: 'Description',
    summary: 'Read this description',
    description: 'The OpenAPI description of the interface.',
    body: undefined,
    query: undefined,
    successes: [
      {
        status: 200,
        description: 'An OpenAPI 3.1 document.',
        schema: {
          name: 'OpenapiDocument',
          schema: z.object({ openapi: z.string(), info: z.looseObject({ version: z.string() }) }),
        },
      },
    ],
    errors: [],
    responseBytesMax: () => Buffer.byteLength(readText()),
    answer: (session, context) => session.confirm(context).then(() => ({ status: 200, json: readText() })),
  };
}
