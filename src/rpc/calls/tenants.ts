// The operator's calls about tenants: their records and their usage.

import { NAME_UNITS_MAX } from '../../core/limits.ts';
import { READERS_MAX } from '../../core/plans.ts';
import type { ReadersSetting, TenantState } from '../../core/tenants.ts';
import { MS_PER_MINUTE } from '../../core/text/timestamps.ts';
import type { TenantChange, TenantStatus, TenantsQuery, UsageBucket } from '../../shard/shard.ts';
import type { ReadersChange, ReadersChange__Output } from '../gen/grantd/v1/ReadersChange.ts';
import type { Tenant, Tenant__Output } from '../gen/grantd/v1/Tenant.ts';
import type { UsageBucket__Output, UsageBucket as WireBucket } from '../gen/grantd/v1/UsageBucket.ts';
import { demand } from '../wire-violation.ts';
import { stateReader, tenantIdFrom, zeroAsUndefined } from './answer-fields.ts';
import { defineCall } from './define-call.ts';
import { limitOf, orUndefined, shortText } from './request-fields.ts';

const bucketToWire = ({ atMs, plan, ...counts }: UsageBucket): WireBucket => ({
  minute: atMs / MS_PER_MINUTE,
  ...counts,
  ...(plan === undefined ? {} : { plan }),
});

const bucketFrom = ({ minute, plan, ...counts }: UsageBucket__Output): UsageBucket => ({
  atMs: minute * MS_PER_MINUTE,
  ...counts,
  ...(plan === '' ? {} : { plan }),
});

const settingToWire = (readers: ReadersSetting) => (readers === 'auto' ? { auto: true } : { readers });

const settingFrom = ({ readers, auto }: { readonly readers: number; readonly auto: boolean }): ReadersSetting =>
  auto ? 'auto' : readers;

function tenantToWire({
  readers,
  chosenReaders,
  counts,
  grants,
  deletion,
  lastMinute,
  ...tenant
}: TenantStatus): Tenant {
  return {
    ...tenant,
    readers: readers === undefined ? null : settingToWire(readers),
    chosenReaders: chosenReaders === undefined ? null : { readers: chosenReaders },
    counts: counts ?? null,
    grants: grants ?? null,
    lastMinute: lastMinute === undefined ? null : bucketToWire(lastMinute),
    deletion: deletion === undefined ? null : { ...deletion, lastPartAtMs: deletion.lastPartAtMs ?? 0 },
  };
}

const stateFrom = stateReader<TenantState>(['active', 'suspended', 'deleting', 'deleted'], 'tenant');

function tenantFrom(tenant: Tenant__Output): TenantStatus {
  const { tenantId, name, plan, state, createdAtMs, readers, chosenReaders } = tenant;
  const { counts, grants, deletion, lastMinute } = tenant;
  return {
    tenantId: tenantIdFrom(tenantId),
    name,
    plan,
    state: stateFrom(state),
    createdAtMs,
    ...(readers ? { readers: settingFrom(readers) } : {}),
    ...(chosenReaders ? { chosenReaders: chosenReaders.readers } : {}),
    ...(counts ? { counts } : {}),
    ...(grants ? { grants } : {}),
    ...(lastMinute ? { lastMinute: bucketFrom(lastMinute) } : {}),
    ...(deletion ? { deletion: { ...deletion, lastPartAtMs: zeroAsUndefined(deletion.lastPartAtMs) } } : {}),
  };
}

function newStateFrom(state: string): TenantChange['state'] {
  if (state === '') return undefined;
  const isState = state === 'active' || state === 'suspended' || state === 'deleting';
  demand(isState, 'A tenant cannot be set to this state.');
  return state;
}

function readersToWire(readers: TenantChange['readers']): ReadersChange | null {
  if (readers === undefined) return null;
  return readers === null ? { byPlan: true } : settingToWire(readers);
}

function newReadersFrom(change: ReadersChange__Output | null): TenantChange['readers'] {
  if (change === null) return undefined;
  demand(change.readers <= READERS_MAX, `A tenant has at most ${READERS_MAX} readers.`);
  return change.byPlan ? null : settingFrom(change);
}

const ofTenant = ({ tenantId }: { readonly tenantId: string }) => ({ tenantId: shortText(tenantId, 'A tenant id') });

const tenantsQueryFrom = ({ after, limit }: { readonly after: string; readonly limit: number }): TenantsQuery => ({
  after: orUndefined(shortText(after, 'A tenant id')),
  limit: limitOf(limit),
});

const TENANT_REPLY = { reply: 'tenant', replyToWire: tenantToWire, replyFromWire: tenantFrom } as const;

export const tenantCalls = {
  /** Under an id that the console has generated. */
  createTenant: defineCall('createTenant', {
    access: 'console',
    write: 'creates',
    requestToWire: (tenant) => tenant,
    requestFromWire: ({ tenantId, name, plan, operator }) => ({
      tenantId: shortText(tenantId, 'A tenant id'),
      name: shortText(name, 'The name of a tenant', NAME_UNITS_MAX),
      plan: shortText(plan, 'A plan'),
      operator: shortText(operator, 'An operator'),
    }),
    ...TENANT_REPLY,
  }),

  updateTenant: defineCall('updateTenant', {
    access: 'console',
    write: 'repeatable',
    requestToWire: ({ tenantId, name = '', plan = '', state = '', readers, operator }) => ({
      tenantId,
      name,
      plan,
      state,
      readers: readersToWire(readers),
      operator,
    }),
    requestFromWire: ({ tenantId, name, plan, state, readers, operator }) => ({
      tenantId: shortText(tenantId, 'A tenant id'),
      name: orUndefined(shortText(name, 'The name of a tenant', NAME_UNITS_MAX)),
      plan: orUndefined(shortText(plan, 'A plan')),
      state: newStateFrom(state),
      readers: newReadersFrom(readers),
      operator: shortText(operator, 'An operator'),
    }),
    ...TENANT_REPLY,
  }),

  readTenant: defineCall('readTenant', {
    access: 'console',
    requestToWire: (of) => of,
    requestFromWire: ofTenant,
    ...TENANT_REPLY,
  }),

  readUsage: defineCall('readUsage', {
    access: 'console',
    requestToWire: (query) => query,
    requestFromWire: ({ sinceMs, ...of }) => ({ ...ofTenant(of), sinceMs }),
    reply: 'usageSeries',
    replyToWire: ({ bucketMs, buckets }) => ({
      bucketMinutes: bucketMs / MS_PER_MINUTE,
      buckets: buckets.map(bucketToWire),
    }),
    replyFromWire: ({ bucketMinutes, buckets }) => ({
      bucketMs: bucketMinutes * MS_PER_MINUTE,
      buckets: buckets.map(bucketFrom),
    }),
  }),

  listTenants: defineCall('listTenants', {
    access: 'console',
    enumerates: true,
    requestToWire: ({ after = '', limit }) => ({ after, limit }),
    requestFromWire: tenantsQueryFrom,
    reply: 'tenants',
    replyToWire: (tenants) => ({ tenants: tenants.map(tenantToWire) }),
    replyFromWire: ({ tenants }) => tenants.map(tenantFrom),
  }),

  findTenants: defineCall('findTenants', {
    access: 'console',
    enumerates: true,
    requestToWire: ({ name, after = '', limit }) => ({ after, limit, name }),
    requestFromWire: ({ name, ...page }) => ({
      name: shortText(name, 'The name of a tenant', NAME_UNITS_MAX),
      ...tenantsQueryFrom(page),
    }),
    reply: 'tenants',
    replyToWire: ({ tenants, scannedTo = '' }) => ({ tenants: tenants.map(tenantToWire), scannedTo }),
    replyFromWire: ({ tenants, scannedTo }) => ({
      tenants: tenants.map(tenantFrom),
      scannedTo: scannedTo === '' ? undefined : tenantIdFrom(scannedTo),
    }),
  }),
};
