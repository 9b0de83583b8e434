// The header lines that show a rate limit: our own, and the fields RateLimit and RateLimit-Policy of the IETF draft
// (draft-ietf-httpapi-ratelimit-headers), which are structured fields (RFC 9651). Nearly every response carries these
// lines, so the text that is the same under a plan is built once.

import { AUTHENTICATION_FAILURES, type Plan, REVOCATION_RESERVE } from '../../core/plans.ts';
import type { FailureRefusal, RateDecision } from '../../front/limits/rate-limiter.ts';

/** A string of a structured field (RFC 9651 section 3.3.3) of visible ASCII and spaces. */
const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;

export class RatePolicy {
  /** In quotes in the headers, and as it is in the problem document of a refusal. */
  readonly name: string;
  /** Up to the number of requests left. */
  readonly #start: string;
  /** From after the reset to the number of requests left, which the two forms both show. */
  readonly #middle: string;

  constructor(
    name: string,
    { requests, windowSeconds }: { readonly requests: number; readonly windowSeconds: number },
  ) {
    this.name = name;
    const item = quoted(name);
    this.#start =
      `RateLimit-Policy: ${item};q=${requests};w=${windowSeconds}\r\n` +
      `X-Service-RateLimit-Limit: ${requests}\r\nX-Service-RateLimit-Remaining: `;
    this.#middle = `\r\nRateLimit: ${item};r=`;
  }

  /** Header lines, each with its CRLF. */
  linesOf({ remaining, resetSeconds }: RateDecision): string {
    return `${this.#start}${remaining}\r\nX-Service-RateLimit-Reset: ${resetSeconds}${this.#middle}${remaining};t=${resetSeconds}\r\n`;
  }
}

/** Names with a colon: no plan has such a name. */
export const REVOCATION_POLICY = new RatePolicy('key:revocations', REVOCATION_RESERVE);
/** For an address or key that has failed too often: so rare that each refusal creates one. */
export const failurePolicy = ({ of, limit }: FailureRefusal): RatePolicy =>
  new RatePolicy(`${of}:failures`, { requests: limit, windowSeconds: AUTHENTICATION_FAILURES.windowSeconds });

/** The policies of plans, each created at its first use: as many as there are plans. */
export class PlanPolicies {
  readonly #policies = new Map<Plan, RatePolicy>();

  /** Undefined: the plan has no limit. */
  of(plan: Plan): RatePolicy | undefined {
    const known = this.#policies.get(plan);
    if (known !== undefined || plan.requests === undefined) return known;
    const { name, requests, windowSeconds } = plan;
    const policy = new RatePolicy(name, { requests, windowSeconds });
    this.#policies.set(plan, policy);
    return policy;
  }
}
