// The schemas of what only the operator's API answers; what a tenant sees too has the schemas of the public interface.
// They document, and tests hold every response to them. Invariant: a record has exactly the fields of its schema.

import { z } from 'zod';
import { AUDIT_ACTIONS } from '../../../core/audit-filter.ts';
import { changeListSchema } from '../../../http/schema/change-schemas.ts';
import { createdKeySchema, listedKeySchema, subjectSchema } from '../../../http/schema/schemas.ts';

const timestamp = (description: string) => z.string().meta({ format: 'date-time', description });
const count = (description: string) => z.int().min(0).meta({ description });
const nextCursor = z.string().nullable().meta({ description: 'The `cursor` of the next request; null at the end.' });

const keyId = z.string().regex(/^key_[0-9a-hjkmnp-tv-z]{26}$/);

const operatorKeySchema = listedKeySchema.extend({
  rotated_from: keyId.nullable().meta({ description: 'The key in whose place a rotation created this one.' }),
  rotated_to: keyId
    .nullable()
    .meta({ description: 'The key that a rotation created in place of this one, which ends at `expires_at`.' }),
});

export const operatorKeyListSchema = z.object({ keys: z.array(operatorKeySchema), next_cursor: nextCursor });

export const keyStateSchema = operatorKeySchema.extend({
  state: z.enum(['active', 'expired']).meta({ description: 'Whether requests with it are served.' }),
});

export const identifiedKeySchema = keyStateSchema.extend({
  matches: z
    .boolean()
    .meta({ description: 'Whether the text is this key. If not, it has only the ID of this key, and never worked.' }),
});

export const rotatedKeySchema = createdKeySchema.extend({
  former: z
    .object({
      key_id: keyId,
      ends_at: timestamp('When the former key ends; if it is revoked, when that was.'),
      revoked: z.boolean().meta({ description: 'The former key was revoked, since there is no grace.' }),
    })
    .meta({ description: 'The key that was rotated.' }),
});

export const tenantSchema = z
  .object({
    tenant_id: z.string().regex(/^ten_[0-9a-hjkmnp-tv-z]{26}$/),
    name: z.string(),
    plan: z.string(),
    state: z.enum(['active', 'suspended', 'deleting']),
    created_at: timestamp('When it was created.'),
    bounds: z
      .object({
        namespaces_max: count('Namespaces.'),
        keys_max: count('API keys.'),
        grants_max: count('Live grants; null: no limit.').nullable(),
        streams_max: count('Streams of the change feed that each front holds open.'),
      })
      .meta({ description: 'The limits of its plan.' }),
    counts: z
      .object({ namespaces: count('Namespaces.'), keys: count('API keys.') })
      .nullable()
      .meta({ description: 'What it has now; null: the numbers are not at hand.' }),
    grants: count('Live grants; null: not at hand.').nullable(),
    grant_bytes: count('UTF-8 bytes of the parts of these grants; null: not at hand.').nullable(),
    deletion: z
      .object({
        parts_removed: count('Parts that have been removed.'),
        last_part_at: timestamp('When the last one was.').nullable(),
      })
      .optional()
      .meta({ description: 'Only while its data is being removed.' }),
  })
  .meta({ description: 'A tenant.' });

export const tenantListSchema = z.object({ tenants: z.array(tenantSchema), next_cursor: nextCursor });

export const usageSchema = z.object({
  limit: z
    .object({
      requests: count('Requests in a window.'),
      window_seconds: z.number().meta({ description: 'Its length.' }),
    })
    .nullable()
    .meta({ description: 'The rate limit of the plan; null: none.' }),
  minutes: z
    .array(
      z.object({
        at: timestamp('The beginning of the minute.'),
        requests: count('Requests that the limit let through or refused.'),
        refused: count('Those that it refused.'),
        checks: count('Checks, each one of a bulk check too.'),
      }),
    )
    .meta({ description: 'Of the last hour, oldest first; those without a request are left out.' }),
});

const auditEntrySchema = z
  .object({
    seq: count('With `index` its position in the log.'),
    index: count('Of the changes of one position.'),
    at: timestamp('When it was decided.'),
    actor: z.string().meta({ description: 'The id of an API key, `operator:` and a name, or `system`.' }),
    request_id: z.string().meta({ description: 'The request that brought it about.' }),
    change: z
      .looseObject({ action: z.enum(AUDIT_ACTIONS).meta({ description: 'Later versions may add actions.' }) })
      .meta({ description: 'What has changed; its other fields depend on the action.' }),
  })
  .meta({ description: 'An entry of the audit log.' });

export const auditLogSchema = z.object({
  entries: z.array(auditEntrySchema),
  next_cursor: nextCursor,
  resume_cursor: z.string().nullable().meta({ description: 'For later entries, once the end has been reached.' }),
  scanned_to: timestamp('How far a page has read that ends early.').nullable(),
});

const exportedEntrySchema = auditEntrySchema
  .extend({ tenant_id: z.string().meta({ description: 'The tenant.' }) })
  .meta({ description: 'An entry of the audit log, with its tenant.' });

export const auditExportSchema = z.object({
  entries: z.array(exportedEntrySchema).meta({ description: 'Those of a tenant in the order of its log.' }),
  next_cursor: z.string().meta({ description: 'The `cursor` of the next request; the export has no end.' }),
  at_end: z.boolean().meta({ description: 'Whether all slots were read, and nothing more was there.' }),
  slots_missing: count('Slots that could not be read now. What is in them comes later.'),
});

const auditEventSchema = z
  .looseObject({
    specversion: z.literal('1.0'),
    type: z.string().meta({ description: '`grantd.audit.v1`, or `grantd.audit-checkpoint.v1` for the last line.' }),
    source: z.string(),
    id: z.string().meta({ description: 'With `source` it names the event.' }),
    time: timestamp('When it was decided.'),
    data: z.looseObject({}).meta({ description: 'The entry, or the cursor of the checkpoint.' }),
  })
  .meta({ description: 'An event of CloudEvents 1.0.' });

export const auditEventLines = { 'application/x-ndjson': { name: 'AuditEvent', schema: auditEventSchema } };

export const auditLineSchema = auditEntrySchema;

export const operatorChangeListSchema = changeListSchema.extend({
  at_end: z.boolean().meta({ description: 'Whether nothing more was there.' }),
});

export const tenantSubjectListSchema = z.object({
  subjects: z.array(subjectSchema).meta({ description: 'Every subject with a grant, and some that once had one.' }),
  next_cursor: nextCursor,
});

export const importLineSchema = z
  .object({
    line: z.int().min(1).meta({ description: 'The number of the line in the body.' }),
    result: z.enum(['created', 'exists', 'refused']),
    type: z.string().optional().meta({ description: 'Of a refused line: the type of the error.' }),
    detail: z.string().optional().meta({ description: 'Of a refused line: what is wrong with it.' }),
  })
  .meta({ description: 'The result of one line.' });

export const planListSchema = z.object({
  plans: z.array(
    z.object({
      name: z.string(),
      requests: count('Requests in a window; null: no limit.').nullable(),
      window_seconds: z.number().meta({ description: 'The length of a window.' }),
      namespaces_max: count('Namespaces.'),
      keys_max: count('API keys.'),
      grants_max: count('Live grants; null: no limit.').nullable(),
      streams_max: count('Streams of the change feed that each front holds open.'),
    }),
  ),
});

export const slotListSchema = z.object({
  slots: z
    .array(
      z.object({
        slot: count('Its number.'),
        state: z.enum(['opening', 'serving', 'releasing', 'unclaimed', 'unowned', 'unreachable']),
        shard: z.string().nullable(),
        incarnation: z.string().nullable(),
        address: z.string().nullable(),
        epoch: count('The fencing number of its ownership.').nullable(),
        lease_left_ms: count(
          'For how long the owner may answer without the store; null: it needs no lease.',
        ).nullable(),
        log_end: count('The last entry of its log.').nullable(),
        checkpoint: count('The last entry that state contains.').nullable(),
        checkpoint_lag: count('The entries between the two.').nullable(),
        tenants: count('Its tenants.').nullable(),
      }),
    )
    .meta({ description: 'Every slot, ascending. What is not known now is null.' }),
});

export const memberListSchema = z.object({
  members: z.array(
    z.object({
      incarnation: z.string(),
      shard: z.string(),
      address: z.string(),
      state: z.enum(['alive', 'draining', 'dead']),
      heartbeat: count('Raised with each heartbeat.'),
      started_at: timestamp('When this incarnation began.'),
      lease_left_ms: count('For how long it may answer without the store; null: it needs no lease.').nullable(),
      slots: count('The slots that it owns.'),
    }),
  ),
});

export const loadListSchema = z.object({
  shards: z.array(
    z.object({
      shard: z.string(),
      checks_per_second: z.number().min(0),
      failures_per_second: z.number().min(0),
      p99_ms: z.number().min(0).nullable().meta({ description: '99 of 100 checks took less; null: there were none.' }),
    }),
  ),
});
