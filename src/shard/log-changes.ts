// Changes: what an operation does to a tenant. The log consists of changes. Memory and the state tables are derived
// from them alone, so every owner that reads the same log has the same state.

import type { ApiKeyRecord } from '../core/api-keys.ts';
import { assert, assertNever } from '../core/assert.ts';
import type { AuditAction } from '../core/audit-filter.ts';
import { auditedAttributes, type GrantTerms, termsRecord, withoutTerms } from '../core/grant-attributes.ts';
import { conditionNameOf } from '../core/grant-condition.ts';
import type { TenantId } from '../core/ids.ts';
import type { RulesVersion } from '../core/rules-versions.ts';
import { scopesOf } from '../core/scopes.ts';
import type { Tenant } from '../core/tenants.ts';
import { optionalTimestamp } from '../core/text/timestamps.ts';
import { type Grant, grantOf, isRelation } from '../core/tuples.ts';
import { revisionOfRules } from '../rules/rule-set.ts';
import type { AuditLogRow, CountKey, KeyCount, Stamp, StateWrite } from '../store/store.ts';

export type Change =
  /**
   * `newSubject`: when this was decided, the owner did not know of a grant of this subject, so the list of the tenant's
   * subjects may lack it. Always set if the subject had no grant. Row removal may delete the row of a subject without
   * grants; a later grant writes the row again, with a greater stamp than that of the removal.
   */
  | { readonly kind: 'grant-created'; readonly grant: Grant; readonly newSubject: boolean }
  | { readonly kind: 'grant-revoked'; readonly grant: Grant }
  /**
   * The grant lives on with another expiry or condition, or without one. `former`: what it had, so that the state
   * before follows from the state after. Absent: an entry of version 0.2, where grants had no conditions.
   */
  | { readonly kind: 'grant-updated'; readonly grant: Grant; readonly former?: GrantTerms | undefined }
  /** The time of the grant's expiry has come, by the base of the entry. */
  | { readonly kind: 'grant-expired'; readonly grant: Grant }
  | { readonly kind: 'namespace-created'; readonly name: string; readonly createdAtMs: number }
  | { readonly kind: 'key-created'; readonly key: ApiKeyRecord }
  | { readonly kind: 'key-revoked'; readonly key: ApiKeyRecord }
  /** Both keys change at one moment, or neither does. */
  | ({ readonly kind: 'key-rotated' } & KeyRotation)
  | { readonly kind: 'tenant-created'; readonly tenant: Tenant }
  | { readonly kind: 'tenant-updated'; readonly tenant: Tenant }
  | RulesChange;

/** The tenant, whose record names the version, has other rules from here on. */
export interface RulesChange {
  readonly kind: 'rules-updated';
  readonly tenant: Tenant;
  /** Both texts are canonical; those of no rules are too. */
  readonly rules: string;
  readonly former: string;
  /** Lines by which they differ. */
  readonly added: number;
  readonly removed: number;
}

/** `key` replaces `former`. */
export interface KeyRotation {
  readonly key: ApiKeyRecord;
  /** With its new end, which is no later than the one it had. */
  readonly former: ApiKeyRecord;
  /** The previous key ends with this change, by no clock. */
  readonly revoked: boolean;
}

/** A line of JSON: what readers of the tenant get of an operation. */
export const encodeCommit = (seq: number, changes: readonly Change[]): string => JSON.stringify({ seq, changes });

/** Who requested a change, and when. */
export interface ChangeOrigin {
  readonly tenantId: TenantId;
  /** A key id, `operator:<name>` or `system`. */
  readonly actor: string;
  readonly requestId: string;
  /** Wall clock, ms since the Unix epoch. */
  readonly atMs: number;
}

/** The place of a change in the log. */
export interface ChangePosition {
  readonly slot: number;
  readonly seq: number;
  readonly index: number;
  readonly stamp: Stamp;
}

/** Compact: a filter searches this text for its values. */
const toJson = (action: AuditAction, fields: object): string => JSON.stringify({ action, ...fields });

export type GrantChange = Extract<Change, { readonly grant: Grant }>;

/** As the audit log and the change feed call them. */
export const AUDIT_ACTION_OF: Readonly<Record<Change['kind'], AuditAction>> = {
  'grant-created': 'grant.created',
  'grant-revoked': 'grant.revoked',
  'grant-updated': 'grant.updated',
  'grant-expired': 'grant.expired',
  'namespace-created': 'namespace.created',
  'key-created': 'key.created',
  'key-revoked': 'key.revoked',
  'key-rotated': 'key.rotated',
  'tenant-created': 'tenant.created',
  'tenant-updated': 'tenant.updated',
  'rules-updated': 'rules.updated',
};

/** Whether the tuple holds no grant after the change. */
export const endsGrant = ({ kind }: GrantChange): boolean => kind === 'grant-revoked' || kind === 'grant-expired';

/** By how much a change alters the number of grants of its own relation, and of those that carry a condition. */
export function countDifferences(change: GrantChange): readonly KeyCount[] {
  const { relation, condition } = change.grant;
  const updated = change.kind === 'grant-updated';
  const former = updated ? change.former?.condition : undefined;
  const isOwn = !updated && !isRelation(relation);
  if (!isOwn && condition === undefined && former === undefined) return NO_DIFFERENCES;
  const grants = endsGrant(change) ? -1 : 1;
  return [
    ...(isOwn ? [{ key: `relation:${relation}`, grants } as const] : []),
    ...(condition === undefined ? [] : [{ key: conditionKey(condition), grants }]),
    ...(former === undefined ? [] : [{ key: conditionKey(former), grants: -1 }]),
  ];
}

const NO_DIFFERENCES = Object.freeze([]);

const conditionKey = (condition: string): CountKey => `condition:${conditionNameOf(condition)}`;

/** A change as the audit log stores it, in JSON. Omits the hash of an API key. */
function describe(change: Change): string {
  const action = AUDIT_ACTION_OF[change.kind];
  switch (change.kind) {
    case 'grant-created':
    case 'grant-revoked':
    case 'grant-updated':
    case 'grant-expired': {
      const { subject, relation, object } = change.grant;
      const former = change.kind === 'grant-updated' ? change.former : undefined;
      const audited = { subject, relation, object, ...auditedAttributes(change.grant) };
      return toJson(action, former === undefined ? audited : { ...audited, former_terms: termsRecord(former) });
    }
    case 'namespace-created':
      return toJson(action, { name: change.name });
    case 'key-created':
    case 'key-revoked': {
      const { keyId, name, scopes } = change.key;
      return toJson(action, { key_id: keyId, name, scopes: scopesOf(scopes) });
    }
    case 'key-rotated': {
      const { keyId, name, scopes } = change.key;
      const { keyId: formerKeyId, expiresAtMs } = change.former;
      const fields = { key_id: keyId, name, scopes: scopesOf(scopes), former_key_id: formerKeyId };
      return toJson(action, { ...fields, former_ends_at: optionalTimestamp(expiresAtMs) });
    }
    case 'tenant-created':
    case 'tenant-updated': {
      const { name, plan, state, readers } = change.tenant;
      return toJson(action, { name, plan, state, readers });
    }
    case 'rules-updated':
      // The canonical texts are compact JSON already.
      return `{"action":"${action}","rules":${change.rules},"former":${change.former}}`;
    default:
      return assertNever(change);
  }
}

function versionOf({ tenant, rules, added, removed }: RulesChange, origin: ChangeOrigin): RulesVersion {
  const { rulesVersion: version, rulesRevision: revision = revisionOfRules(rules) } = tenant;
  assert(version !== undefined, 'the record of a tenant names the version of its rules');
  const { atMs, actor, requestId } = origin;
  return { version, revision, atMs, actor, requestId, added, removed };
}

/** How many rows `deriveState` derives from the change. */
export function countStateRows(change: Change): number {
  switch (change.kind) {
    case 'grant-created':
      return 2 + (change.newSubject ? 1 : 0) + (change.grant.expiresAtMs === undefined ? 0 : 1);
    case 'grant-updated':
      return change.grant.expiresAtMs === undefined ? 2 : 3;
    case 'key-rotated':
    case 'rules-updated':
      return 3;
    default:
      return 2;
  }
}

function deriveRows(change: Change, origin: ChangeOrigin, position: ChangePosition): StateWrite[] {
  const { tenantId } = origin;
  const { stamp } = position;
  switch (change.kind) {
    case 'grant-created':
    case 'grant-revoked':
    case 'grant-updated':
    case 'grant-expired': {
      const { subject, relation, object, expiresAtMs } = change.grant;
      const tombstone = endsGrant(change);
      const rows: StateWrite[] = [];
      if (change.kind === 'grant-created' && change.newSubject)
        rows.push({ kind: 'subject', tenantId, subject, stamp });
      if (expiresAtMs !== undefined && !tombstone) {
        rows.push({ kind: 'expiry', tenantId, expiresAtMs, subject, relation, object, stamp });
      }
      // A tombstone row has no terms that a later grant could inherit.
      const grant = tombstone ? grantOf(change.grant, withoutTerms(change.grant)) : change.grant;
      rows.push({ ...grant, kind: 'grant', tenantId, tombstone, stamp });
      return rows;
    }
    case 'namespace-created':
      return [{ kind: 'namespace', tenantId, name: change.name, createdAtMs: change.createdAtMs, stamp }];
    case 'key-created':
    case 'key-revoked':
      return [{ kind: 'key', tenantId, key: change.key, tombstone: change.kind === 'key-revoked', stamp }];
    case 'key-rotated':
      return [
        { kind: 'key', tenantId, key: change.former, tombstone: change.revoked, stamp },
        { kind: 'key', tenantId, key: change.key, tombstone: false, stamp },
      ];
    case 'tenant-created':
    case 'tenant-updated':
      return [{ kind: 'tenant', slot: position.slot, tenant: change.tenant, stamp }];
    case 'rules-updated':
      return [
        { kind: 'tenant', slot: position.slot, tenant: change.tenant, stamp },
        { kind: 'rules', tenantId, version: versionOf(change, origin), rules: change.rules, stamp },
      ];
    default:
      return assertNever(change);
  }
}

/** A change as the audit log stores it. `index`: among all changes of its entry. */
export function auditLogRow(change: Change, origin: ChangeOrigin, seq: number, index: number): AuditLogRow {
  return {
    seq,
    index,
    atMs: origin.atMs,
    // An expiry has no request of its own, even if the operation that met it records it.
    actor: change.kind === 'grant-expired' ? 'system' : origin.actor,
    requestId: origin.requestId,
    change: describe(change),
  };
}

/** The state rows of one change, including that of the audit log. */
export function deriveState(change: Change, origin: ChangeOrigin, position: ChangePosition): StateWrite[] {
  const rows = deriveRows(change, origin, position);
  // The month comes from the base, so all changes of an entry are in one month.
  const base = position.stamp - position.index;
  rows.push({
    kind: 'audit-log',
    tenantId: origin.tenantId,
    month: monthOf(base / 1000),
    row: auditLogRow(change, origin, position.seq, position.index),
    stamp: position.stamp,
  });
  return rows;
}

let cachedHour = Number.NaN;
let cachedMonth = '';

/** `2026-11`, in UTC. Cached: it runs for every change, almost always within the same hour. */
export function monthOf(wallMs: number): string {
  const hour = Math.floor(wallMs / 3_600_000);
  if (hour !== cachedHour) {
    cachedHour = hour;
    cachedMonth = new Date(wallMs).toISOString().slice(0, 7);
  }
  return cachedMonth;
}

/** The month before (-1) or after (1) a month. */
export function monthBeside(month: string, step: 1 | -1): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return monthOf(Date.UTC(year, number - 1 + step));
}
