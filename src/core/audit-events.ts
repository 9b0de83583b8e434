// The audit log as events in the JSON form of CloudEvents 1.0
// (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md), and the checkpoints between
// them. Invariant: a change is always the same event, with the same `source` and `id`, at every delivery.

import { createHash } from 'node:crypto';

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
