// Shared by the middleware for every framework: one check, and its effect on a request. Invariant: a request passes
// only after a check that is true; every other outcome refuses it.

import type { Grantd } from './client.ts';
import { GrantdError } from './error.ts';
import { invalidOption, type KnownOf, knownMembers } from './members.ts';
import { isSendable } from './outgoing.ts';

export interface RequirementOptions<Request> {
  readonly grantd: Pick<Grantd, 'check'>;
  /**
   * The authenticated subject, such as `user:ada`; undefined: none. Never take it from input that a client
   * can forge.
   */
  readonly subject: (request: Request) => string | undefined;
  /** Called with the reason for a 503, for the log. */
  readonly onError?: ((error: unknown, request: Request) => void) | undefined;
}

export interface Refusal {
  readonly status: 401 | 403 | 404 | 503;
  readonly title: string;
}

const UNAUTHENTICATED: Refusal = { status: 401, title: 'Unauthorized' };
const FORBIDDEN: Refusal = { status: 403, title: 'Forbidden' };
const NOT_FOUND: Refusal = { status: 404, title: 'Not Found' };
const UNKNOWN: Refusal = { status: 503, title: 'Service Unavailable' };

/** No grant can have such a subject or object, so there is nothing to allow. Undefined: it is not known. */
function refusalFor(error: unknown): Refusal | undefined {
  const type = error instanceof GrantdError ? error.type : undefined;
  return type === 'invalid-subject' ? FORBIDDEN : type === 'invalid-object' ? NOT_FOUND : undefined;
}

/** What a request needs. */
export interface Requirement<Request> {
  readonly relation: string;
  /** The object that the request is about, such as `document:plan`. */
  readonly object: (request: Request) => string;
}

const OPTIONS: KnownOf<RequirementOptions<unknown>> = { grantd: true, subject: true, onError: true };
const REQUIREMENT: KnownOf<Requirement<unknown>> = { relation: true, object: true };

/** Throws a TypeError for an option that does not exist. `more`: the options that a framework adds. */
export const knownOptions = <O extends object>(
  options: O,
  more: KnownOf<Omit<O, keyof RequirementOptions<unknown>>>,
): O => knownMembers<object>(options, { ...OPTIONS, ...more }, 'options', invalidOption) as O;

/** Throws a TypeError for a member that does not exist. */
export const knownRequirement = <Request>(requirement: Requirement<Request>): Requirement<Request> =>
  knownMembers(requirement, REQUIREMENT, '', invalidOption);

/** Undefined: the request may pass. An error of the two functions of the caller is theirs, and is thrown. */
export async function refusalOf<Request>(
  { grantd, subject: subjectOf, onError }: RequirementOptions<Request>,
  { relation, object: objectOf }: Requirement<Request>,
  request: Request,
): Promise<Refusal | undefined> {
  const subject = subjectOf(request);
  if (typeof subject !== 'string' || subject === '') return UNAUTHENTICATED;
  const object = objectOf(request);
  if (typeof object !== 'string' || object === '') return NOT_FOUND;
  // The client sends neither, as the service would refuse it.
  if (!isSendable(subject)) return FORBIDDEN;
  if (!isSendable(object)) return NOT_FOUND;
  let authorized: unknown;
  try {
    authorized = await grantd.check({ subject, relation, object });
  } catch (error) {
    const refusal = refusalFor(error);
    if (refusal !== undefined) return refusal;
    onError?.(error, request);
    return UNKNOWN;
  }
  return authorized === true ? undefined : FORBIDDEN;
}

export const problemOf = ({ status, title }: Refusal) => ({ type: 'about:blank', title, status });

/** Seconds after which an unknown answer may be known. */
export const RETRY_AFTER_S = 1;
