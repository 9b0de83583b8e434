// The operator's calls about tenants: their records and their usage.

import { NAME_UNITS_MAX } from '../../core/limits.ts';
import { READERS_MAX } from '../../core/plans.ts';
import type { ReadersSetting } from '../../core/tenants.ts';
import { MS_PER_MINUTE } from '../../core/text/timestamps.ts';
import type {
  FoundTenants,
  NewTenant,
  TenantChange,
  TenantDeletion,
  TenantStatus,
  TenantsQuery,
  UsageBucket,
  UsageSeries,
} from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { limit, shortText, tenantId, tenantIdText } from './fields.ts';
import {
  as,
  converted,
  flag,
  int64,
  list,
  message,
  only,
  optional,
  orUndefined,
  sparse,
  text,
  textOf,
  uint32,
  uint32In,
  uint64,
  word,
} from './schema.ts';

const name = textOf(NAME_UNITS_MAX);

const minutes = converted(
  uint32,
  (ms: number) => ms / MS_PER_MINUTE,
  (wire) => wire * MS_PER_MINUTE,
);

const bucket = message<UsageBucket>({
  atMs: as('minute', minutes),
  requests: uint64,
  refused: uint64,
  checks: uint64,
  plan: sparse(text),
});

/** Null: as the plan says. */
const readersChange = converted(
  message<{ byPlan?: boolean | undefined; readers?: number | undefined; auto?: boolean | undefined }>({
    byPlan: sparse(flag),
    readers: sparse(uint32In(0, READERS_MAX)),
    auto: sparse(flag),
  }),
  (readers: ReadersSetting | null) =>
    readers === null ? { byPlan: true } : readers === 'auto' ? { auto: true } : { readers },
  ({ byPlan, auto, readers = 0 }) => (byPlan ? null : auto ? 'auto' : readers),
);

const readersSetting = converted(
  message<{ readers?: number | undefined; auto?: boolean | undefined }>({
    readers: sparse(uint32),
    auto: sparse(flag),
  }),
  (readers: ReadersSetting) => (readers === 'auto' ? { auto: true } : { readers }),
  ({ auto, readers = 0 }) => (auto ? 'auto' : readers),
);

const tenant = message<Omit<TenantStatus, 'rulesVersion' | 'rulesRevision'>>({
  tenantId,
  name: text,
  plan: text,
  state: word('active', 'suspended', 'deleting', 'deleted'),
  createdAtMs: int64,
  readers: optional(readersSetting),
  chosenReaders: optional(only('readers', uint32)),
  counts: optional(message({ namespaces: uint32, keys: uint32 })),
  grants: optional(message({ grants: uint64, bytes: uint64 })),
  lastMinute: optional(bucket),
  deletion: optional(message<TenantDeletion>({ partsRemoved: uint32, lastPartAtMs: orUndefined(int64) })),
});

const TENANT = { reply: 'tenant', answer: tenant } as const;

const listFields = { after: orUndefined(shortText), limit };

export const tenantCalls = {
  /** Under an id that the console has generated. */
  createTenant: defineCall('createTenant', {
    access: 'console',
    write: 'creates',
    request: message<NewTenant>({ tenantId: tenantIdText, name, plan: shortText, operator: shortText }),
    ...TENANT,
  }),

  updateTenant: defineCall('updateTenant', {
    access: 'console',
    write: 'repeatable',
    request: message<TenantChange>({
      tenantId: shortText,
      name: orUndefined(name),
      plan: orUndefined(shortText),
      state: orUndefined(word('active', 'suspended', 'deleting')),
      readers: orUndefined(readersChange),
      operator: shortText,
    }),
    ...TENANT,
  }),

  readTenant: defineCall('readTenant', {
    access: 'console',
    request: message({ tenantId: shortText }),
    ...TENANT,
  }),

  readUsage: defineCall('readUsage', {
    access: 'console',
    request: message({ tenantId: shortText, sinceMs: int64 }),
    reply: 'usageSeries',
    answer: message<UsageSeries>({ bucketMs: as('bucketMinutes', minutes), buckets: list(bucket) }),
  }),

  listTenants: defineCall('listTenants', {
    access: 'console',
    enumerates: true,
    request: message<TenantsQuery>(listFields),
    reply: 'tenants',
    answer: converted(
      message<Pick<FoundTenants, 'tenants'>>({ tenants: list(tenant) }),
      (tenants: readonly TenantStatus[]) => ({ tenants }),
      ({ tenants }) => tenants,
    ),
  }),

  findTenants: defineCall('findTenants', {
    access: 'console',
    enumerates: true,
    request: message({ ...listFields, name }),
    reply: 'tenants',
    answer: message<FoundTenants>({ tenants: list(tenant), scannedTo: orUndefined(tenantId) }),
  }),
};
