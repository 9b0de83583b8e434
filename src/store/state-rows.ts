// The rows of state, as the port takes and returns them. Each is derived from the log and stamped, and every stamp is
// greater than all earlier ones: of two writes to one row, the greater stamp wins, whichever comes last.

import type { ApiKeyRecord } from '../core/api-keys.ts';
import type { KeyId, TenantId } from '../core/ids.ts';
import type { Tenant } from '../core/tenants.ts';
import type { Grant, Relation, Tuple } from '../core/tuples.ts';

/** Microseconds since the Unix epoch, a safe integer. Orders the writes to one row of state; unique per row. */
export type Stamp = number;

/**
 * The rows of a grant, by subject and by object. A revocation writes both as tombstone rows, so that a late or
 * lost write cannot bring the grant back.
 */
export interface GrantWrite extends Grant {
  readonly kind: 'grant';
  readonly tenantId: TenantId;
  readonly tombstone: boolean;
  readonly stamp: Stamp;
}

/**
 * Tells when a grant expires. Never revised: a row may be of a grant that was revoked or got another expiry since. The
 * bucket is that of the subject.
 */
export interface ExpiryWrite extends ExpiryPlace {
  readonly kind: 'expiry';
  readonly tenantId: TenantId;
  readonly stamp: Stamp;
}

/** The place of a grant among those of its tenant that expire. */
export interface ExpiryPlace extends Tuple {
  readonly expiresAtMs: number;
}

/** A place, or one before all places of its time: texts may be empty. */
export interface ExpiryBound {
  readonly expiresAtMs: number;
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
}

export interface SubjectWrite {
  readonly kind: 'subject';
  readonly tenantId: TenantId;
  readonly subject: string;
  readonly stamp: Stamp;
}

export interface NamespaceWrite {
  readonly kind: 'namespace';
  readonly tenantId: TenantId;
  readonly name: string;
  readonly createdAtMs: number;
  readonly stamp: Stamp;
}

export interface KeyWrite {
  readonly kind: 'key';
  readonly tenantId: TenantId;
  readonly key: ApiKeyRecord;
  readonly tombstone: boolean;
  readonly stamp: Stamp;
}

export interface TenantWrite {
  readonly kind: 'tenant';
  readonly slot: number;
  readonly tenant: Tenant;
  readonly stamp: Stamp;
}

/** The rules of a tenant as their canonical text; that of no rules once they were removed. */
export interface RulesWrite {
  readonly kind: 'rules';
  readonly tenantId: TenantId;
  /** At most 64 KiB. */
  readonly rules: string;
  readonly stamp: Stamp;
}

/** What happened to a tenant, when and by whom. */
export interface AuditLogRow {
  readonly seq: number;
  /** The position of the change within its entry. */
  readonly index: number;
  /** Wall clock, ms since the Unix epoch. */
  readonly atMs: number;
  /** A key id, or `operator:<name>`. */
  readonly actor: string;
  /** `req_…` */
  readonly requestId: string;
  /**
   * What changed, as JSON text: `{"action": "grant.created", …}`. At most 8 KiB; with the rules of a tenant and its
   * former ones, 129 KiB.
   */
  readonly change: string;
}

export interface AuditLogWrite {
  readonly kind: 'audit-log';
  readonly tenantId: TenantId;
  /** `2026-11`, in UTC, of the entry's time. */
  readonly month: string;
  readonly row: AuditLogRow;
  readonly stamp: Stamp;
}

/** How many live grants a tenant has after a seq of its slot's log, and their bytes. */
export interface GrantCountRow {
  readonly tenantId: TenantId;
  /** The count includes every entry up to this seq. */
  readonly seq: number;
  readonly grants: number;
  /** UTF-8 bytes of their subjects, relations and objects. */
  readonly bytes: number;
  /** Every grant that expires no later is collected. Undefined: no grant of the tenant ever had an expiry. */
  readonly collectedToMs?: number;
}

export interface GrantCountWrite {
  readonly kind: 'grant-count';
  readonly slot: number;
  readonly row: GrantCountRow;
  readonly stamp: Stamp;
}

export type StateWrite =
  | GrantWrite
  | ExpiryWrite
  | SubjectWrite
  | NamespaceWrite
  | KeyWrite
  | TenantWrite
  | RulesWrite
  | AuditLogWrite
  | GrantCountWrite;

/** A grant of a known subject. */
export type GrantRow = Omit<Grant, 'subject'>;

/** A grant on a known object. */
export type ObjectGrantRow = Omit<Grant, 'object'>;

/** The place of a grant among those of its subject, and among those on its object. */
export type GrantPlace = Pick<Grant, 'relation' | 'object'>;
export type ObjectGrantPlace = Pick<Grant, 'relation' | 'subject'>;

export interface KeyPage {
  readonly keys: readonly ApiKeyRecord[];
  /** The revoked ones among the rows that were read. */
  readonly revoked: readonly KeyId[];
  /** Where to continue; undefined at the end. */
  readonly next: KeyId | undefined;
}

/** A row to delete for good. */
export type RemovableRow =
  | {
      readonly kind: 'grant';
      readonly tenantId: TenantId;
      readonly subject: string;
      readonly relation: Relation;
      readonly object: string;
      readonly stamp: Stamp;
    }
  | { readonly kind: 'subject'; readonly tenantId: TenantId; readonly subject: string; readonly stamp: Stamp }
  | { readonly kind: 'key'; readonly tenantId: TenantId; readonly keyId: KeyId; readonly stamp: Stamp }
  | { readonly kind: 'tenant'; readonly slot: number; readonly tenantId: TenantId; readonly stamp: Stamp };
