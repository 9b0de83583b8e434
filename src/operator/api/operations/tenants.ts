// Tenants: create, show, change and delete them, and what they have used. A deletion is accepted at once. The data is
// removed in the background, and the record stays visible as `deleting` until all of it is removed.

import { z } from 'zod';
import { GrantdError } from '../../../core/errors.ts';
import { parseTenantId } from '../../../core/ids.ts';
import { DEFAULT_PLAN_NAME, type Plans, readersOf, resolvePlan } from '../../../core/plans.ts';
import { LISTED_STATES, updatedTenant } from '../../../core/tenants.ts';
import { formatTimestamp, MS_PER_HOUR, MS_PER_MINUTE, optionalTimestamp } from '../../../core/text/timestamps.ts';
import { success } from '../../../http/schema/operation-description.ts';
import { closedObject, dryRunQuerySchema } from '../../../http/schema/schema-parts.ts';
import { validateBody } from '../../../http/schema/validation.ts';
import type { TenantDeletion, TenantProblem, TenantStatus, UsageBucket } from '../../../shard/shard.ts';
import { requirePresent, tenantIdOf } from '../../path-ids.ts';
import { pageShape, planName, tenantName, tenantReaders, tenantSearch, timestamp } from '../../schemas.ts';
import {
  count,
  IDEMPOTENCY,
  idempotencyKeyOf,
  jsonBody,
  jsonResponse,
  nextCursor,
  type OperatorCall,
  ownOperation,
  reading,
  timestampText,
} from '../operation.ts';

const tenantSchema = z
  .object({
    tenant_id: z.string().regex(/^ten_[0-9a-hjkmnp-tv-z]{26}$/),
    name: z.string(),
    plan: z.string(),
    state: z.enum(['active', 'suspended', 'deleting']),
    created_at: timestampText('When it was created.'),
    bounds: z
      .object({
        namespaces_max: count('Namespaces.'),
        keys_max: count('API keys.'),
        grants_max: count('Live grants; null: no limit.').nullable(),
        streams_max: count('Streams of the change feed that each front holds open.'),
      })
      .meta({ description: 'The limits of its plan.' }),
    readers: z
      .union([z.int().min(0), z.literal('auto')])
      .nullable()
      .meta({
        description: 'Its own number of readers, or auto: as many as its owner chooses; null: as its plan says.',
      }),
    effective_readers: count(
      'Shards that answer its reads beside its owner: its own number, that of its plan, or what its owner has chosen; null: not known now.',
    ).nullable(),
    counts: z
      .object({ namespaces: count('Namespaces.'), keys: count('API keys.') })
      .nullable()
      .meta({ description: 'What it has now; null: not known now.' }),
    grants: count('Live grants; null: not known now.').nullable(),
    grant_bytes: count('UTF-8 bytes of the parts of these grants; null: not known now.').nullable(),
    exceeded: z
      .array(z.enum(['namespaces_max', 'keys_max', 'grants_max']))
      .optional()
      .meta({
        description:
          'Only of the dry run of a change: the limits that its counts exceed. It keeps what it has, and gets no more.',
      }),
    deletion: z
      .object({
        parts_removed: count('Parts that have been removed.'),
        last_part_at: timestampText('When the last one was.').nullable(),
      })
      .optional()
      .meta({ description: 'Only while its data is being removed.' }),
  })
  .meta({ description: 'A tenant.' });

const TENANT = { name: 'Tenant', schema: tenantSchema };

const deletionRecord = ({ partsRemoved, lastPartAtMs }: TenantDeletion): object => ({
  parts_removed: partsRemoved,
  last_part_at: optionalTimestamp(lastPartAtMs),
});

const effectiveReaders = (plans: Plans, tenant: TenantStatus): number | undefined => {
  const readers = readersOf(plans, tenant);
  return readers === 'auto' ? tenant.chosenReaders : readers;
};

/** `deletion` is present only while there is one. */
function tenantRecord(tenant: TenantStatus, plans: Plans): object {
  const { namespacesMax, keysMax, grantsMax, streamsMax } = resolvePlan(plans, tenant.plan);
  const { counts, grants, deletion } = tenant;
  return {
    tenant_id: tenant.tenantId,
    name: tenant.name,
    plan: tenant.plan,
    state: tenant.state,
    created_at: formatTimestamp(tenant.createdAtMs),
    bounds: {
      namespaces_max: namespacesMax,
      keys_max: keysMax,
      grants_max: grantsMax ?? null,
      streams_max: streamsMax,
    },
    readers: tenant.readers ?? null,
    effective_readers: effectiveReaders(plans, tenant) ?? null,
    counts: counts === undefined ? null : { namespaces: counts.namespaces, keys: counts.keys },
    grants: grants?.grants ?? null,
    grant_bytes: grants?.bytes ?? null,
    ...(deletion === undefined ? {} : { deletion: deletionRecord(deletion) }),
  };
}

/** What it has more of than its plan allows, as far as that is known. */
function exceededBounds({ plan, counts, grants }: TenantStatus, plans: Plans): readonly string[] {
  const { namespacesMax, keysMax, grantsMax = Number.POSITIVE_INFINITY } = resolvePlan(plans, plan);
  return [
    ...(counts !== undefined && counts.namespaces > namespacesMax ? ['namespaces_max'] : []),
    ...(counts !== undefined && counts.keys > keysMax ? ['keys_max'] : []),
    ...(grants !== undefined && grants.grants > grantsMax ? ['grants_max'] : []),
  ];
}

/** The tenant as it is now. Throws `tenant-not-found`. */
const presentTenant = async (call: OperatorCall): Promise<TenantStatus> =>
  requirePresent(await call.api.call('readTenant', call.context(), { tenantId: tenantIdOf(call) }));

function requireKnownPlan(plans: Plans, plan: string | undefined): void {
  if (plan !== undefined && !plans.has(plan)) {
    throw new GrantdError('invalid-request', `The field "plan" must be one of ${[...plans.keys()].join(', ')}.`);
  }
}

const createShape = { name: tenantName, plan: planName.optional() };
const createSchema = closedObject(createShape);

export const createTenant = ownOperation({
  id: 'createTenant',
  method: 'POST',
  access: 'full',
  path: '/tenants',
  tag: 'Tenants',
  summary: 'Create a tenant',
  body: jsonBody('TenantRequest', createShape, { name: 'Acme', plan: 'standard' }),
  headers: IDEMPOTENCY,
  successes: [success(201, 'The tenant was created.', TENANT)],
  errors: ['already-created', 'idempotency-key-reused'],
  async run(call) {
    const { api, plans, operator } = call;
    const { name, plan } = validateBody(createSchema, call.request.body);
    requireKnownPlan(plans, plan);
    const tenant = { name, plan: plan ?? DEFAULT_PLAN_NAME, operator: operator.name };
    const created = await api.createTenant(call.context(), tenant, idempotencyKeyOf(call));
    return jsonResponse(201, tenantRecord(created, plans));
  },
});

export const listTenants = reading({
  id: 'listTenants',
  path: '/tenants',
  tag: 'Tenants',
  summary: 'List the tenants',
  query: {
    ...pageShape,
    name: tenantSearch
      .meta({ description: 'Only tenants with this text in their name or id (case-insensitive).' })
      .optional(),
    plan: planName.meta({ description: 'Only tenants with this plan.' }).optional(),
    state: z
      .enum(LISTED_STATES, `must be one of ${LISTED_STATES.join(', ')}`)
      .meta({ description: 'Only tenants in this state.' })
      .optional(),
  },
  successes: [
    success(200, 'One page, ascending by id.', {
      name: 'TenantList',
      schema: z.object({ tenants: z.array(tenantSchema), next_cursor: nextCursor }),
    }),
  ],
  errors: ['invalid-cursor'],
  async run({ api, plans, context }, { cursor, limit, name, plan, state }) {
    const after = cursor === undefined ? undefined : parseTenantId(cursor);
    if (cursor !== undefined && after === undefined) {
      throw new GrantdError('invalid-cursor', 'The cursor does not belong to this listing.');
    }
    const page = await api.listTenants(context(), { after, limit, name, plan, state });
    const tenants = page.tenants.map((tenant) => tenantRecord(tenant, plans));
    return jsonResponse(200, { tenants, next_cursor: page.next ?? null });
  },
});

export const readTenant = reading({
  id: 'readTenant',
  path: '/tenants/{tenantId}',
  tag: 'Tenants',
  summary: 'Read a tenant',
  successes: [success(200, 'The tenant.', TENANT)],
  run: async (call) => jsonResponse(200, tenantRecord(await presentTenant(call), call.plans)),
});

const updateShape = {
  name: tenantName.optional(),
  plan: planName.optional(),
  state: z.enum(['active', 'suspended'], 'must be active or suspended').optional(),
  readers: tenantReaders
    .nullable()
    .meta({
      description:
        'Shards that answer its reads beside its owner, or auto: as many as its owner chooses; null: as its plan says.',
    })
    .optional(),
};

const updateSchema = closedObject(updateShape);

export const updateTenant = ownOperation({
  id: 'updateTenant',
  method: 'PATCH',
  access: 'full',
  path: '/tenants/{tenantId}',
  tag: 'Tenants',
  summary: 'Change the name, the plan, the state or the readers of a tenant',
  description:
    'At least one field. As soon as the response is here, requests of a suspended tenant are refused. With `dry_run=true`, nothing changes, and the response is the tenant as it would be, with the limits that it would exceed.',
  query: dryRunQuerySchema.shape,
  body: jsonBody('TenantChange', updateShape, { plan: 'scale' }),
  successes: [success(200, 'The tenant as it is now, or would be.', TENANT)],
  async run(call, { dry_run: dryRun }) {
    const { api, plans, operator } = call;
    const tenantId = tenantIdOf(call);
    const body = validateBody(updateSchema, call.request.body);
    if (Object.values(body).every((value) => value === undefined)) {
      throw new GrantdError(
        'invalid-request',
        'The body must contain at least one of "name", "plan", "state" and "readers".',
      );
    }
    requireKnownPlan(plans, body.plan);
    if (dryRun === 'true') {
      const present = await presentTenant(call);
      const { counts, grants, chosenReaders } = present;
      const changed = { ...updatedTenant(present, body), counts, grants, chosenReaders };
      return jsonResponse(200, { ...tenantRecord(changed, plans), exceeded: exceededBounds(changed, plans) });
    }
    const tenant = await api.call('updateTenant', call.context(), { ...body, tenantId, operator: operator.name });
    return jsonResponse(200, tenantRecord(requirePresent(tenant), plans));
  },
});

export const deleteTenant = ownOperation({
  id: 'deleteTenant',
  method: 'DELETE',
  access: 'full',
  path: '/tenants/{tenantId}',
  tag: 'Tenants',
  summary: 'Delete a tenant',
  description:
    'Its requests are refused at once. Its data is removed in the background; its id is never used again. With `dry_run=true`, nothing changes, and the response is the tenant with what would be deleted: its state and its counts.',
  query: dryRunQuerySchema.shape,
  successes: [
    success(200, 'A dry run: the tenant that would be deleted.', TENANT),
    success(202, 'The tenant is being deleted.', TENANT),
  ],
  async run(call, { dry_run: dryRun }) {
    if (dryRun === 'true') return jsonResponse(200, tenantRecord(await presentTenant(call), call.plans));
    const change = { tenantId: tenantIdOf(call), state: 'deleting', operator: call.operator.name } as const;
    const tenant = await call.api.call('updateTenant', call.context(), change);
    return jsonResponse(202, tenantRecord(requirePresent(tenant), call.plans));
  },
});

const usageSchema = z.object({
  limit: z
    .object({
      requests: count('Requests in a window.'),
      window_seconds: z.number().meta({ description: 'Its length.' }),
    })
    .nullable()
    .meta({ description: 'The rate limit of the plan; null: none.' }),
  bucket_seconds: z.number().meta({ description: 'The length of each bucket: 60 or 3600.' }),
  buckets: z
    .array(
      z.object({
        at: timestampText('The beginning of the minute or hour.'),
        requests: count('Requests that the limit let through or refused.'),
        refused: count('Those that it refused.'),
        checks: count('Checks, each one of a bulk check too.'),
      }),
    )
    .meta({ description: 'Oldest first; those without a request are left out.' }),
  problems: z
    .array(
      z.object({
        key_id: z.string().meta({ description: 'The key of the requests.' }),
        code: z.string().meta({ description: 'The kind of problem: the last part of its `type`.' }),
        count: count('How often, since.'),
        since: timestampText('The first one that is remembered.'),
        last_at: timestampText('The last one.'),
        last_request_id: z.string().meta({ description: 'The request of the last one.' }),
        last_detail: z.string().meta({ description: 'Its detail, cut off after 300 characters.' }),
      }),
    )
    .meta({
      description:
        'Requests that were refused or failed, by key and kind: the newest 20, latest first, as the owner of the tenant remembers them. A change of the owner forgets them.',
    }),
});

const problemRecord = ({ keyId, code, count: times, sinceMs, atMs, requestId, detail }: TenantProblem): object => ({
  key_id: keyId,
  code,
  count: times,
  since: formatTimestamp(sinceMs),
  last_at: formatTimestamp(atMs),
  last_request_id: requestId,
  last_detail: detail,
});

const usageRecord = ({ atMs, requests, refused, checks }: UsageBucket): object => ({
  at: formatTimestamp(atMs),
  requests,
  refused,
  checks,
});

export const readUsage = reading({
  id: 'readUsage',
  path: '/tenants/{tenantId}/usage',
  tag: 'Tenants',
  summary: 'Read what a tenant has used',
  description: 'By the minute if `since` is no longer ago than a day, and otherwise by the hour, for up to 31 days.',
  query: {
    since: timestamp.meta({ description: 'Where to begin; by default the last 60 minutes.' }).optional(),
  },
  successes: [success(200, 'The minutes or hours.', { name: 'Usage', schema: usageSchema })],
  async run(call, { since }) {
    const { api, plans, clock } = call;
    const tenantId = tenantIdOf(call);
    const context = call.context();
    const sinceMs = since ?? clock.wallMs() - MS_PER_HOUR + MS_PER_MINUTE;
    const [tenant, { bucketMs, buckets, problems }] = await Promise.all([
      api.call('readTenant', context, { tenantId }),
      api.call('readUsage', context, { tenantId, sinceMs }),
    ]);
    const { requests, windowSeconds } = resolvePlan(plans, tenant.plan);
    const limit = requests === undefined ? null : { requests, window_seconds: windowSeconds };
    const used = { bucket_seconds: bucketMs / 1000, buckets: buckets.map(usageRecord) };
    return jsonResponse(200, { limit, ...used, problems: problems.map(problemRecord) });
  },
});
