// Tenants: the record of a tenant in the log of its slot.

import { assert } from './assert.ts';
import { GrantdError } from './errors.ts';
import type { TenantId } from './ids.ts';

/**
 * `deleting`: refuses everything while its data is being removed. `deleted`: its data has been removed; the id is never
 * used again.
 */
export type TenantState = 'active' | 'suspended' | 'deleting' | 'deleted';

/** 0 to READERS_MAX; `auto`: as many as its owner finds that the tenant needs, up to the bound of its plan. */
export type ReadersSetting = number | 'auto';

export interface Tenant {
  readonly tenantId: TenantId;
  /** 1 to 256 code points. */
  readonly name: string;
  /** The name of a plan. */
  readonly plan: string;
  readonly state: TenantState;
  /** Wall clock, ms since the Unix epoch. */
  readonly createdAtMs: number;
  /** Shards that answer its reads beside its owner; undefined: as its plan says. */
  readonly readers?: ReadersSetting | undefined;
  /** The number of the present version of its rules; undefined: it has never set any. */
  readonly rulesVersion?: number | undefined;
  /** The revision of its rules; undefined: relations follow from grants alone. */
  readonly rulesRevision?: string | undefined;
}

/** The tenant with the next version of its rules. `revision`: undefined if they are empty. */
export function withNextRules({ rulesRevision: _, ...tenant }: Tenant, revision: string | undefined): Tenant {
  const next = { ...tenant, rulesVersion: (tenant.rulesVersion ?? 0) + 1 };
  return revision === undefined ? next : { ...next, rulesRevision: revision };
}

/** The tenant as if it had never set rules. */
export const withoutRules = ({ rulesVersion: _v, rulesRevision: _r, ...tenant }: Tenant): Tenant => tenant;

/** The tenant with other readers. `null`: as its plan says. */
export const withReaders = ({ readers: _, ...tenant }: Tenant, readers: ReadersSetting | null): Tenant =>
  readers === null ? tenant : { ...tenant, readers };

/** Absent fields stay unchanged. */
export interface TenantUpdate {
  readonly name?: string | undefined;
  readonly plan?: string | undefined;
  readonly state?: TenantState | undefined;
  /** `null`: as its plan says. */
  readonly readers?: ReadersSetting | null | undefined;
}

/** A tenant that is being deleted accepts only one more change, to `deleted`. Throws `tenant-not-found`. */
export function updatedTenant(present: Tenant, update: TenantUpdate): Tenant {
  if (isLeaving(present) && update.state !== 'deleting' && update.state !== 'deleted') {
    throw new GrantdError('tenant-not-found', `Tenant ${present.tenantId} is being deleted.`);
  }
  const state = present.state === 'deleted' ? 'deleted' : (update.state ?? present.state);
  const named = { ...present, name: update.name ?? present.name, plan: update.plan ?? present.plan, state };
  const next = update.readers === undefined ? named : withReaders(named, update.readers);
  // Its rules are removed by then.
  return state === 'deleted' ? withoutRules(next) : next;
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

const STATE_TEXT = /^(active|suspended|deleting|deleted)(?: rules:(\d{1,15})(?::([0-9a-f]{32}))?)?$/;

/** The state, and the version and revision of the rules, as one text for one column. */
export function encodeTenantState({ state, rulesVersion, rulesRevision }: Tenant): string {
  assert(rulesVersion !== undefined || rulesRevision === undefined, 'rules with a revision have a version');
  if (rulesVersion === undefined) return state;
  return `${state} rules:${rulesVersion}${rulesRevision === undefined ? '' : `:${rulesRevision}`}`;
}

/** Throws if `encodeTenantState` cannot have written this text. */
export function decodeTenantState(text: string): Pick<Tenant, 'state' | 'rulesVersion' | 'rulesRevision'> {
  const match = STATE_TEXT.exec(text);
  assert(match !== null, 'the column state holds a state');
  const state = match[1] as Tenant['state'];
  if (match[2] === undefined) return { state };
  const rulesVersion = Number(match[2]);
  const rulesRevision = match[3];
  return rulesRevision === undefined ? { state, rulesVersion } : { state, rulesVersion, rulesRevision };
}
