// What a caller may do. An API key has scopes, a mask of three bits of which none implies another. An operator has
// read-only or full access; an operation that needs full access refuses a read-only operator before it starts.

import { GrantdError } from './errors.ts';

export const SCOPES = Object.freeze(['check:read', 'grant:write', 'admin'] as const);

export type Scope = (typeof SCOPES)[number];

/** Bit n represents `SCOPES[n]`. */
export type ScopeMask = number;

export const ALL_SCOPES: ScopeMask = (1 << SCOPES.length) - 1;

export function scopeMask(scopes: readonly Scope[]): ScopeMask {
  let mask = 0;
  for (const scope of scopes) mask |= 1 << SCOPES.indexOf(scope);
  return mask;
}

/** In the order of `SCOPES`. */
export function scopesOf(mask: ScopeMask): Scope[] {
  return SCOPES.filter((_, index) => (mask & (1 << index)) !== 0);
}

export function hasScope(mask: ScopeMask, scope: Scope): boolean {
  return (mask & (1 << SCOPES.indexOf(scope))) !== 0;
}

/** From the least to the most. */
export const OPERATOR_ACCESS = ['read-only', 'full'] as const;
export type OperatorAccess = (typeof OPERATOR_ACCESS)[number];

export interface Operator {
  /** Appears in the audit log as `operator:<name>`. */
  readonly name: string;
  readonly access: OperatorAccess;
}

/** Why the operator may not do what needs this access; undefined: it may. */
export const accessRefusal = ({ access }: Pick<Operator, 'access'>, needed: OperatorAccess): GrantdError | undefined =>
  access === 'full' || needed === 'read-only'
    ? undefined
    : new GrantdError('insufficient-scope', 'You have read-only access, and this needs full access.');

/** Throws `insufficient-scope`. */
export function requireAccess(operator: Pick<Operator, 'access'>, needed: OperatorAccess): void {
  const refusal = accessRefusal(operator, needed);
  if (refusal !== undefined) throw refusal;
}
