// A guard for NestJS, as a decorator.

import {
  type CanActivate,
  type ExecutionContext,
  ForbiddenException,
  NotFoundException,
  ServiceUnavailableException,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { knownOptions, knownRequirement, type Requirement, type RequirementOptions, refusalOf } from './requirement.ts';

export type { Refusal, Requirement, RequirementOptions } from './requirement.ts';

class GrantdGuard<Request> implements CanActivate {
  readonly #options: RequirementOptions<Request>;
  readonly #requirement: Requirement<Request>;

  constructor(options: RequirementOptions<Request>, requirement: Requirement<Request>) {
    this.#options = options;
    this.#requirement = requirement;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const refusal = await refusalOf(this.#options, this.#requirement, request);
    if (refusal === undefined) return true;
    if (refusal.status === 401) throw new UnauthorizedException();
    if (refusal.status === 403) throw new ForbiddenException();
    if (refusal.status === 404) throw new NotFoundException();
    throw new ServiceUnavailableException();
  }
}

/**
 * Gives `@Requires({ relation, object })` for controllers and their methods: a guard that lets a request pass if its
 * subject has the relation on the object. 401 without a subject, 403 without the relation, 404 for no object, 503 if
 * unknown.
 */
export function createRequires<Request>(
  options: RequirementOptions<Request>,
): (requirement: Requirement<Request>) => MethodDecorator & ClassDecorator {
  const known = knownOptions(options, {});
  return (requirement) => UseGuards(new GrantdGuard(known, knownRequirement(requirement)));
}
