// A guard for NestJS, as a decorator.

import {
  type CanActivate,
  type ExecutionContext,
  ForbiddenException,
  ServiceUnavailableException,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { type RequirementOptions, refusalOf } from './requirement.ts';

export type { Refusal, RequirementOptions } from './requirement.ts';

class GrantdGuard<Request> implements CanActivate {
  readonly #options: RequirementOptions<Request>;
  readonly #relation: string;
  readonly #object: (request: Request) => string;

  constructor(options: RequirementOptions<Request>, relation: string, object: (request: Request) => string) {
    this.#options = options;
    this.#relation = relation;
    this.#object = object;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const refusal = await refusalOf(this.#options, this.#relation, this.#object, request);
    if (refusal === undefined) return true;
    if (refusal.status === 401) throw new UnauthorizedException();
    if (refusal.status === 403) throw new ForbiddenException();
    throw new ServiceUnavailableException();
  }
}

/**
 * Gives `@Requires(relation, object)` for controllers and their methods: a guard that lets a request pass if its
 * subject has the relation on the object. 401 without a subject, 403 without the relation, 503 if that is not known.
 */
export function createRequires<Request>(
  options: RequirementOptions<Request>,
): (relation: string, object: (request: Request) => string) => MethodDecorator & ClassDecorator {
  return (relation, object) => UseGuards(new GrantdGuard(options, relation, object));
}
