// Hooks for Fastify.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { problemOf, RETRY_AFTER_S, type RequirementOptions, refusalOf } from './requirement.ts';

export type { Refusal, RequirementOptions } from './requirement.ts';

/**
 * Gives `requires(relation, object)`: a preHandler that lets a request pass if its subject has the relation on the
 * object. 401 without a subject, 403 without the relation, 503 if that is not known.
 */
export function createRequires(
  options: RequirementOptions<FastifyRequest>,
): (
  relation: string,
  object: (request: FastifyRequest) => string,
) => (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined> {
  return (relation, object) => async (request, reply) => {
    const refusal = await refusalOf(options, relation, object, request);
    if (refusal === undefined) return undefined;
    if (refusal.status === 503) reply.header('retry-after', RETRY_AFTER_S);
    return reply
      .code(refusal.status)
      .type('application/problem+json')
      .send(JSON.stringify(problemOf(refusal)));
  };
}
