// Middleware for Express.

import type { Request, RequestHandler, Response } from 'express';
import {
  knownOptions,
  knownRequirement,
  problemOf,
  RETRY_AFTER_S,
  type Refusal,
  type Requirement,
  type RequirementOptions,
  refusalOf,
} from './requirement.ts';

export type { Refusal, Requirement, RequirementOptions } from './requirement.ts';

export interface ExpressOptions extends RequirementOptions<Request> {
  /** Sends a refusal, for instance as a page. By default, it is a problem document. */
  readonly refuse?: ((refusal: Refusal, request: Request, response: Response) => void) | undefined;
}

function sendProblem(refusal: Refusal, _request: Request, response: Response): void {
  response
    .status(refusal.status)
    .type('application/problem+json')
    .send(JSON.stringify(problemOf(refusal)));
}

/**
 * Gives `requires({ relation, object })`: a handler that lets a request pass if its subject has the relation on the
 * object. 401 without a subject, 403 without the relation, 404 for no object, 503 if unknown.
 */
export function createRequires(options: ExpressOptions): (requirement: Requirement<Request>) => RequestHandler {
  const { refuse = sendProblem, ...common } = knownOptions(options, { refuse: true });
  return (given) => {
    const requirement = knownRequirement(given);
    return (request, response, next) => {
      refusalOf(common, requirement, request)
        .then((refusal) => {
          if (refusal === undefined) return next();
          if (refusal.status === 503) response.setHeader('retry-after', RETRY_AFTER_S);
          refuse(refusal, request, response);
        })
        .catch(next);
    };
  };
}
