// Middleware for Express.

import type { Request, RequestHandler, Response } from 'express';
import { problemOf, RETRY_AFTER_S, type Refusal, type RequirementOptions, refusalOf } from './requirement.ts';

export type { Refusal, RequirementOptions } from './requirement.ts';

function refuse(response: Response, refusal: Refusal): void {
  if (refusal.status === 503) response.setHeader('retry-after', RETRY_AFTER_S);
  response
    .status(refusal.status)
    .type('application/problem+json')
    .send(JSON.stringify(problemOf(refusal)));
}

/**
 * Gives `requires(relation, object)`: a handler that lets a request pass if its subject has the relation on the object.
 * 401 without a subject, 403 without the relation, 503 if that is not known.
 */
export function createRequires(
  options: RequirementOptions<Request>,
): (relation: string, object: (request: Request) => string) => RequestHandler {
  return (relation, object) => (request, response, next) => {
    refusalOf(options, relation, object, request)
      .then((refusal) => {
        if (refusal === undefined) next();
        else refuse(response, refusal);
      })
      .catch(next);
  };
}
