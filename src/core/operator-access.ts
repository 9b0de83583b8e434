// What an operator may do. Invariant: whatever needs full access is refused to an operator who may only read, before it
// starts.

import { GrantdError } from './errors.ts';

/** From the least to the most. */
export const OPERATOR_ACCESS = ['read-only', 'full'] as const;
export type OperatorAccess = (typeof OPERATOR_ACCESS)[number];

export interface Operator {
  /** Appears in the audit log as `operator:<name>`. */
  readonly name: string;
  readonly access: OperatorAccess;
}

/** Throws `insufficient-scope`. */
export function requireAccess(operator: Pick<Operator, 'access'>, needed: OperatorAccess): void {
  if (operator.access === 'full' || needed === 'read-only') return;
  throw new GrantdError('insufficient-scope', 'You have read-only access, and this needs full access.');
}
