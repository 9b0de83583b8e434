// Every operation of the public interface, registered once.

import { z } from 'zod';
import type { Clock } from '../core/async/clock.ts';
import { type ChangeDependencies, createListChanges } from './operations/changes.ts';
import { createCheck, createCheckBulk } from './operations/checks.ts';
import { createEvaluate, createEvaluateMany } from './operations/evaluations.ts';
import { createCreateGrant, createWriteBulk, listGrants, revokeGrant, revokeGrants } from './operations/grants.ts';
import { createCreateKey, listKeys, revokeKey } from './operations/keys.ts';
import { listObjects, listSubjects } from './operations/listings.ts';
import { createNamespace, listNamespaces } from './operations/namespaces.ts';
import type { CheckOutcomes, PublicOperation } from './operations/operation.ts';
import { readRules, writeRules } from './operations/rules.ts';
import { searchActions, searchResources, searchSubjects } from './operations/searches.ts';
import { success } from './schema/operation-description.ts';

/** GET /openapi.json: the machine-readable description of the interface. */
const createReadOpenapi = (readText: () => string): PublicOperation => ({
  id: 'readOpenapi',
  method: 'GET',
  path: '/openapi.json',
  scope: undefined,
  tag: 'Description',
  summary: 'Read this description',
  description: 'The OpenAPI description of the interface.',
  successes: [
    success(200, 'An OpenAPI 3.1 document.', {
      name: 'OpenapiDocument',
      schema: z.object({ openapi: z.string(), info: z.looseObject({ version: z.string() }) }),
    }),
  ],
  responseBytesMax: () => Buffer.byteLength(readText()),
  answer: (session, context) => session.confirm(context).then(() => ({ status: 200, json: readText() })),
});

/** In the order of the specification; the first one is the hot path and is matched first. */
export function createOperations(dependencies: {
  readonly clock: Pick<Clock, 'wallMs' | 'monotonicMs'>;
  readonly outcomes: CheckOutcomes;
  readonly streams: ChangeDependencies['streams'];
  /** The OpenAPI file that `GET /openapi.json` returns. */
  readonly readOpenapiText: () => string;
}): readonly PublicOperation[] {
  return [
    createCheck(dependencies.outcomes),
    createCheckBulk(dependencies.outcomes),
    listGrants,
    createCreateGrant(dependencies.clock),
    revokeGrant,
    createWriteBulk(dependencies.clock),
    revokeGrants,
    listObjects,
    listSubjects,
    listNamespaces,
    createNamespace,
    listKeys,
    createCreateKey(dependencies.clock),
    revokeKey,
    readRules,
    writeRules,
    createListChanges(dependencies),
    createEvaluate(dependencies.outcomes),
    createEvaluateMany(dependencies.outcomes),
    searchSubjects,
    searchResources,
    searchActions,
    createReadOpenapi(dependencies.readOpenapiText),
  ];
}
