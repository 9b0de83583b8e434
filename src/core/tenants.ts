// Tenants: the record of a tenant in the log of its slot.

import { assert } from './assert.ts';
import type { TenantId } from './ids.ts';

/**
 * `deleting`: refuses everything while its data is being removed. `deleted`: its data has been removed; the id is never
 * used again.
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
  /** The revision of its rules; undefined: relations follow from grants alone. */
  readonly rulesRevision?: string | undefined;
}

/** The tenant with other rules, or without any. */
export function withRulesRevision({ rulesRevision: _, ...tenant }: Tenant, revision: string | undefined): Tenant {
  return revision === undefined ? tenant : { ...tenant, rulesRevision: revision };
}

/** Whether its name or id contains the text (case-insensitive). An empty text matches. */
export function tenantMatches({ tenantId, name }: Tenant, text: string): boolean {
  const lowered = text.toLowerCase();
  return tenantId.includes(lowered) || name.toLowerCase().includes(lowered);
}

export const LISTED_STATES = ['active', 'suspended', 'deleting'] as const satisfies readonly TenantState[];

/** A missing field, and an empty name, lets every tenant pass. */
export interface TenantFilter {
  /** In its name or id, case-insensitive. */
  readonly name?: string | undefined;
  readonly plan?: string | undefined;
  readonly state?: TenantState | undefined;
}

export function tenantFits(tenant: Tenant, { name = '', plan, state }: TenantFilter): boolean {
  if (plan !== undefined && tenant.plan !== plan) return false;
  if (state !== undefined && tenant.state !== state) return false;
  return name === '' || tenantMatches(tenant, name);
}

/** Whether the tenant is being deleted, or has been, so that it refuses every request. */
export function isLeaving(tenant: Tenant): boolean {
  return tenant.state === 'deleting' || tenant.state === 'deleted';
}

const STATE_TEXT = /^(active|suspended|deleting|deleted)(?: rules:([0-9a-f]{32}))?$/;

/** The state and the revision of the rules, as one text for one column. */
export const encodeTenantState = ({ state, rulesRevision }: Tenant): string =>
  rulesRevision === undefined ? state : `${state} rules:${rulesRevision}`;

/** Throws if `encodeTenantState` cannot have written this text. */
export function decodeTenantState(text: string): Pick<Tenant, 'state' | 'rulesRevision'> {
  const match = STATE_TEXT.exec(text);
  assert(match !== null, 'the column state holds a state');
  const state = match[1] as Tenant['state'];
  const rulesRevision = match[2];
  return rulesRevision === undefined ? { state } : { state, rulesRevision };
}
