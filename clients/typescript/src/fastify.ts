// Hooks for Fastify.

import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  knownOptions,
  knownRequirement,
  problemOf,
  RETRY_AFTER_S,
  type Requirement,
  type RequirementOptions,
  refusalOf,
} from './requirement.ts';

export type { Refusal, Requirement, RequirementOptions } from './requirement.ts';

/**
 * Gives `requires({ relation, object })`: a preHandler that lets a request pass if its subject has the relation on the
 * object. 401 without a subject, 403 without the relation, 404 for no object, 503 if unknown.
 */
export function createRequires(
  options: RequirementOptions<FastifyRequest>,
): (
  requirement: Requirement<FastifyRequest>,
) => (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined> {
  const known = knownOptions(options, {});
  return (given) => {
    const requirement = knownRequirement(given);
    return async (request, reply) => {
      const refusal = await refusalOf(known, requirement, request);
      if (refusal === undefined) return undefined;
      if (refusal.status === 503) reply.header('retry-after', RETRY_AFTER_S);
      return reply
        .code(refusal.status)
        .type('application/problem+json')
        .send(JSON.stringify(problemOf(refusal)));
    };
  };
}
