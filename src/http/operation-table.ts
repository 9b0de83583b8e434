// Every operation of the public interface, registered once.

import { z } from 'zod';
import { listChanges } from './operations/changes.ts';
import { check, checkBulk } from './operations/checks.ts';
import { evaluate, evaluateMany } from './operations/evaluations.ts';
import { createGrant, listGrants, revokeGrant, revokeGrants, writeBulk } from './operations/grants.ts';
import { readJoin } from './operations/joins.ts';
import { createKey, listKeys, revokeKey } from './operations/keys.ts';
import { listObjects, listObjectsInContext, listSubjects, listSubjectsInContext } from './operations/listings.ts';
import { createNamespace, listNamespaces } from './operations/namespaces.ts';
import type { PublicOperation, PublicServices } from './operations/operation.ts';
import { readRules, writeRules } from './operations/rules.ts';
import { listRulesVersions, readRulesVersion } from './operations/rules-versions.ts';
import { searchActions, searchResources, searchSubjects } from './operations/searches.ts';
import { readSets } from './operations/sets.ts';
import { success } from './schema/operation-description.ts';

/** GET /openapi.json: the machine-readable description of the interface. */
export const readOpenapi: PublicOperation = {
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
  responseBytesMax: (_request, { openapiText }) => Buffer.byteLength(openapiText),
  answer: (session, context, _request, { openapiText }) =>
    session.confirm(context).then(() => ({ status: 200, json: openapiText })),
};

/** In the order of the specification; the first one is the hot path and is matched first. */
export const OPERATIONS: readonly PublicOperation<PublicServices>[] = [
  check,
  checkBulk,
  listGrants,
  createGrant,
  revokeGrant,
  writeBulk,
  revokeGrants,
  listObjects,
  listObjectsInContext,
  listSubjects,
  listSubjectsInContext,
  readSets,
  readJoin,
  listNamespaces,
  createNamespace,
  listKeys,
  createKey,
  revokeKey,
  readRules,
  writeRules,
  listRulesVersions,
  readRulesVersion,
  listChanges,
  evaluate,
  evaluateMany,
  searchSubjects,
  searchResources,
  searchActions,
  readOpenapi,
];
