// Every operation of the public interface, registered once.

import type { Clock } from '../core/async/clock.ts';
import { createCheck } from './operations/check.ts';
import { createCheckBulk } from './operations/check-bulk.ts';
import { createCreateGrant } from './operations/create-grant.ts';
import { createCreateKey } from './operations/create-key.ts';
import { createNamespace } from './operations/create-namespace.ts';
import { createEvaluate } from './operations/evaluate.ts';
import { createEvaluateMany } from './operations/evaluate-many.ts';
import { type ChangeDependencies, createListChanges } from './operations/list-changes.ts';
import { listGrants } from './operations/list-grants.ts';
import { listKeys } from './operations/list-keys.ts';
import { listNamespaces } from './operations/list-namespaces.ts';
import { listObjects } from './operations/list-objects.ts';
import { listSubjects } from './operations/list-subjects.ts';
import type { CheckOutcomes, Operation } from './operations/operation.ts';
import { createReadOpenapi } from './operations/read-openapi.ts';
import { readRules } from './operations/read-rules.ts';
import { revokeGrant } from './operations/revoke-grant.ts';
import { revokeGrants } from './operations/revoke-grants.ts';
import { revokeKey } from './operations/revoke-key.ts';
import { searchActions } from './operations/search-actions.ts';
import { searchResources } from './operations/search-resources.ts';
import { searchSubjects } from './operations/search-subjects.ts';
import { createWriteBulk } from './operations/write-bulk.ts';
import { writeRules } from './operations/write-rules.ts';

/** In the order of the specification; the first one is the hot path and is matched first. */
export function createOperations(dependencies: {
  readonly clock: Pick<Clock, 'wallMs' | 'monotonicMs'>;
  readonly outcomes: CheckOutcomes;
  readonly streams: ChangeDependencies['streams'];
  /** The OpenAPI file that `GET /openapi.json` returns. */
  readonly readOpenapiText: () => string;
}): readonly Operation[] {
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
