// The audit log: its actions, its events, and the filter by which a tenant's entries are listed. Every field of a
// filter must match exactly. It is applied to rows as they are read, so that it works with any store and with rows of
// earlier versions.

import { createHash } from 'node:crypto';

export const AUDIT_ACTIONS = [
  'grant.created',
  'grant.expired',
  'grant.revoked',
  'grant.updated',
  'key.created',
  'key.revoked',
  'key.rotated',
  'namespace.created',
  'rules.updated',
  'tenant.created',
  'tenant.updated',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** An empty or missing field matches everything. */
export interface AuditFilter {
  readonly action?: string | undefined;
  /** A key id, `operator:<name>` or `system`. */
  readonly actor?: string | undefined;
  /** Only entries about grants have it. */
  readonly subject?: string | undefined;
  /** Only entries about grants have it. */
  readonly object?: string | undefined;
  readonly requestId?: string | undefined;
}

/** The fields that a filter examines. `change`: an object as compact JSON, as `JSON.stringify` writes it. */
export interface FilteredEntry {
  readonly actor: string;
  readonly requestId: string;
  readonly change: string;
}

const IN_CHANGE = ['action', 'subject', 'object'] as const;

/** The filter as a list of strings, for a cursor that is bound to it; empty if everything matches. */
export function filterScope({ action, actor, subject, object, requestId }: AuditFilter): readonly string[] {
  const fields = [action, actor, subject, object, requestId].map((field) => field ?? '');
  return fields.every((field) => field === '') ? [] : fields;
}

/** Undefined if everything matches. */
export function auditMatcher(filter: AuditFilter): ((change: FilteredEntry) => boolean) | undefined {
  if (filterScope(filter).length === 0) return undefined;
  const { actor = '', requestId = '' } = filter;
  const wanted = IN_CHANGE.flatMap((name) => {
    const value = filter[name] ?? '';
    return value === '' ? [] : [{ name, value, text: `"${name}":${JSON.stringify(value)}` }];
  });
  return (row) => {
    if (actor !== '' && row.actor !== actor) return false;
    if (requestId !== '' && row.requestId !== requestId) return false;
    if (wanted.length === 0) return true;
    // Most rows are excluded without parsing their JSON. A row with the text may have it inside another value.
    if (!wanted.every(({ text }) => row.change.includes(text))) return false;
    const change = parsed(row.change);
    return wanted.every(({ name, value }) => change[name] === value);
  };
}

/** Empty if it is not an object: such a change matches no filter on its fields. */
function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

// ---- as events ----
//
// The audit log as events in the JSON form of CloudEvents 1.0
// (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md), and the checkpoints between
// them. Invariant: a change is always the same event, with the same `source` and `id`, at every delivery.

/** Another version would be another type. */
const CHANGE_TYPE = 'grantd.audit.v1';
const CHECKPOINT_TYPE = 'grantd.audit-checkpoint.v1';
const SOURCE = '/grantd-audit-log';
/** Bytes of a digest in the id of a checkpoint. */
const ID_BYTES = 16;

/** An entry of the audit log in JSON, with its tenant. */
export interface AuditEntry {
  readonly tenant_id: string;
  readonly seq: number;
  readonly index: number;
  readonly at: string;
  readonly actor: string;
  readonly request_id: string;
  readonly change: unknown;
}

export function auditEvent(entry: AuditEntry): object {
  return {
    specversion: '1.0',
    type: CHANGE_TYPE,
    source: SOURCE,
    id: `${entry.tenant_id}.${entry.seq}.${entry.index}`,
    subject: entry.tenant_id,
    time: entry.at,
    datacontenttype: 'application/json',
    data: entry,
  };
}

/** Every change up to the cursor has been delivered. */
export function checkpointEvent(checkpoint: {
  readonly cursor: string;
  readonly at: string;
  readonly at_end: boolean;
  readonly slots_missing: number;
}): object {
  return {
    specversion: '1.0',
    type: CHECKPOINT_TYPE,
    source: SOURCE,
    id: createHash('sha256').update(checkpoint.cursor).digest().subarray(0, ID_BYTES).toString('hex'),
    time: checkpoint.at,
    datacontenttype: 'application/json',
    data: checkpoint,
  };
}
