// Tenants: the record that a slot's log holds of each.

import type { TenantId } from './ids.ts';

/**
 * `deleting`: refuses everything, its data is being removed. `deleted`: all its data is gone; the id is never used
 * again.
 */
export type TenantState = 'active' | 'suspended' | 'deleting' | 'deleted';

export interface Tenant {
  readonly tenantId: TenantId;
  /** 1 to 256 code points. */
  readonly name: string;
  /** The name of a plan. */
  readonly plan: string;
  readonly state: TenantState;
  /** Wall clock, ms since the Unix epoch. */
  readonly createdAtMs: number;
}

/** Whether the text, in any case, is a part of its name or of its id. Empty: it is. */
export function tenantMatches({ tenantId, name }: Tenant, text: string): boolean {
  const lowered = text.toLowerCase();
  return tenantId.includes(lowered) || name.toLowerCase().includes(lowered);
}

/** Whether it refuses everything from now on. */
export function isLeaving(tenant: Tenant): boolean {
  return tenant.state === 'deleting' || tenant.state === 'deleted';
}
