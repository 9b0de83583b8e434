// The operator's calls about tenants: their records and their usage.

import { NAME_UNITS_MAX } from '../../core/limits.ts';
import { READERS_MAX } from '../../core/plans.ts';
import type { ReadersSetting } from '../../core/tenants.ts';
import { MS_PER_MINUTE } from '../../core/text/timestamps.ts';
import type { TenantChange, TenantProblem, TenantStatus, UsageBucket } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { limit, shortText, tenantId, tenantIdText } from './fields.ts';
import * as s from './schema.ts';

const name = s.textOf(NAME_UNITS_MAX);

const minutes = s.converted(
  s.uint32,
  (ms: number) => ms / MS_PER_MINUTE,
  (wire) => wire * MS_PER_MINUTE,
);

const bucket = s.message<UsageBucket>({
  atMs: s.as('minute', minutes),
  requests: s.uint64,
  refused: s.uint64,
  checks: s.uint64,
  plan: s.sparse(s.text),
});

const problem = s.message<TenantProblem>({
  keyId: s.text,
  code: s.text,
  count: s.uint64,
  sinceMs: s.int64,
  atMs: s.int64,
  requestId: s.text,
  detail: s.text,
});

/** Null: as the plan says. */
const readersChange = s.messageOf(
  { byPlan: s.sparse(s.flag), readers: s.sparse(s.uint32In(0, READERS_MAX)), auto: s.sparse(s.flag) },
  (readers: ReadersSetting | null) =>
    readers === null ? { byPlan: true } : readers === 'auto' ? { auto: true } : { readers },
  ({ byPlan, auto, readers = 0 }) => (byPlan ? null : auto ? 'auto' : readers),
);

const readersSetting = s.messageOf(
  { readers: s.sparse(s.uint32), auto: s.sparse(s.flag) },
  (readers: ReadersSetting) => (readers === 'auto' ? { auto: true } : { readers }),
  ({ auto, readers = 0 }) => (auto ? 'auto' : readers),
);

const tenant = s.message<Omit<TenantStatus, 'rulesVersion' | 'rulesRevision'>>({
  tenantId,
  name: s.text,
  plan: s.text,
  state: s.word('active', 'suspended', 'deleting', 'deleted'),
  createdAtMs: s.int64,
  readers: s.optional(readersSetting),
  chosenReaders: s.optional(s.only('readers', s.uint32)),
  counts: s.optional(s.message({ namespaces: s.uint32, keys: s.uint32 })),
  grants: s.optional(s.message({ grants: s.uint64, bytes: s.uint64 })),
  lastMinute: s.optional(bucket),
  deletion: s.optional(s.message({ partsRemoved: s.uint32, lastPartAtMs: s.orUndefined(s.int64) })),
});

const TENANT = { reply: 'tenant', answer: tenant } as const;

const listFields = { after: s.orUndefined(shortText), limit };

export const tenantCalls = {
  /** Under an id that the console has generated. */
  createTenant: defineCall('createTenant', {
    access: 'console',
    write: 'creates',
    request: s.message({ tenantId: tenantIdText, name, plan: shortText, operator: shortText }),
    ...TENANT,
  }),

  updateTenant: defineCall('updateTenant', {
    access: 'console',
    write: 'repeatable',
    request: s.message<TenantChange>({
      tenantId: shortText,
      name: s.orUndefined(name),
      plan: s.orUndefined(shortText),
      state: s.orUndefined(s.word('active', 'suspended', 'deleting')),
      readers: s.orUndefined(readersChange),
      operator: shortText,
    }),
    ...TENANT,
  }),

  readTenant: defineCall('readTenant', {
    access: 'console',
    request: s.message({ tenantId: shortText }),
    ...TENANT,
  }),

  readUsage: defineCall('readUsage', {
    access: 'console',
    request: s.message({ tenantId: shortText, sinceMs: s.int64 }),
    reply: 'usageSeries',
    answer: s.message({ bucketMs: s.as('bucketMinutes', minutes), buckets: s.list(bucket), problems: s.list(problem) }),
  }),

  listTenants: defineCall('listTenants', {
    access: 'console',
    enumerates: true,
    request: s.message(listFields),
    reply: 'tenants',
    answer: s.only('tenants', s.list(tenant)),
  }),

  findTenants: defineCall('findTenants', {
    access: 'console',
    enumerates: true,
    request: s.message({ ...listFields, name }),
    reply: 'tenants',
    answer: s.message({ tenants: s.list(tenant), scannedTo: s.orUndefined(tenantId) }),
  }),
};
