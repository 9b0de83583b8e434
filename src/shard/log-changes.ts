// Changes: what an operation does to a tenant. The log consists of changes. Memory, drafts and the state tables are
// derived from them alone, so every owner that reads the same log has the same state. `changeSchema` says what each
// kind stores, `CHANGES` what it means: a new kind is an entry in both. Stored changes stay readable: a field that an
// earlier entry may lack is optional.

import { z } from 'zod';
import type { ApiKeyRecord } from '../core/api-keys.ts';
import { assert } from '../core/assert.ts';
import type { AuditAction } from '../core/audit-log.ts';
import {
  attributesOf,
  auditedAttributes,
  type GrantTerms,
  readGrantAttributes,
  readGrantTerms,
  termsRecord,
  textOfTerms,
  withoutTerms,
} from '../core/grant-attributes.ts';
import { conditionNameOf } from '../core/grant-terms.ts';
import { parseKeyId, parseTenantId, type TenantId } from '../core/ids.ts';
import type { RulesVersion } from '../core/rules-versions.ts';
import { scopesOf } from '../core/scopes.ts';
import type { Tenant } from '../core/tenants.ts';
import { optionalTimestamp } from '../core/text/timestamps.ts';
import { type Grant, grantOf, isRelation, isRelationName, type Namespace, type Relation } from '../core/tuples.ts';
import { revisionOfRules } from '../rules/rule-set.ts';
import type { AuditLogRow, CountKey, KeyCount, RemovableRow, Stamp, StateWrite } from '../store/store.ts';
import type { GrantResult } from './shard.ts';

// ---- the stored form ----

const idSchema = <Id extends string>(parse: (text: string) => Id | undefined, message: string) =>
  z.string().transform((text, context) => {
    const id = parse(text);
    if (id !== undefined) return id;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

export const tenantIdSchema = idSchema(parseTenantId, 'not a tenant id');
const keyIdSchema = idSchema(parseKeyId, 'not a key id');

const grantSchema = z
  .looseObject({
    subject: z.string(),
    relation: z.custom<Relation>((value) => typeof value === 'string' && isRelationName(value)),
    object: z.string(),
  })
  .transform((grant, context) => {
    const attributes = readGrantAttributes(({ field }) => grant[field]);
    if (attributes !== undefined) return grantOf(grant, attributes);
    context.addIssue({ code: 'custom', message: 'not valid grant attributes' });
    return z.NEVER;
  });

const termsSchema = z.looseObject({}).transform((stored, context): GrantTerms => {
  const terms = readGrantTerms(({ field }) => stored[field]);
  if (terms !== undefined) return terms;
  context.addIssue({ code: 'custom', message: 'not valid terms of a grant' });
  return z.NEVER;
});

const keySchema = z
  .object({
    keyId: keyIdSchema,
    name: z.string(),
    scopes: z.int(),
    createdAtMs: z.int(),
    expiresAtMs: z.int().optional(),
    hash: z.string(),
    rotatedFrom: keyIdSchema.optional(),
    rotatedTo: keyIdSchema.optional(),
  })
  // JSON leaves the field out of a key that never expires.
  .transform((key): ApiKeyRecord => ({ ...key, expiresAtMs: key.expiresAtMs }));

export const tenantSchema = z.object({
  tenantId: tenantIdSchema,
  name: z.string(),
  plan: z.string(),
  state: z.enum(['active', 'suspended', 'deleting', 'deleted']),
  createdAtMs: z.int(),
  readers: z.union([z.int(), z.literal('auto')]).optional(),
  rulesVersion: z.int().optional(),
  rulesRevision: z.string().optional(),
});

const rotationSchema = z.object({
  key: keySchema,
  /** The key that `key` replaces, with its new end, which is no later than the one it had. */
  former: keySchema,
  /** The previous key ends with this change, by no clock. */
  revoked: z.boolean(),
});

export const changeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('grant-created'),
    grant: grantSchema,
    /**
     * When this was decided, the owner did not know of a grant of this subject, so the list of the tenant's subjects
     * may lack it. Always set if the subject had no grant. Row removal may delete the row of a subject without grants:
     * a later grant writes the row again, with a greater stamp than that of the removal.
     */
    newSubject: z.boolean(),
  }),
  z.object({ kind: z.literal('grant-revoked'), grant: grantSchema }),
  /** The grant lives on with another expiry or condition, or without one. */
  z.object({
    kind: z.literal('grant-updated'),
    grant: grantSchema,
    /**
     * What it had, so that the state before follows from the state after. Absent: an entry of version 0.2, where grants
     * had no conditions.
     */
    former: termsSchema.optional(),
  }),
  /** The time of the grant's expiry has come, by the base of the entry. */
  z.object({ kind: z.literal('grant-expired'), grant: grantSchema }),
  z.object({ kind: z.literal('namespace-created'), name: z.string(), createdAtMs: z.int() }),
  z.object({ kind: z.literal('key-created'), key: keySchema }),
  z.object({ kind: z.literal('key-revoked'), key: keySchema }),
  /** Both keys change at one moment, or neither does. */
  z.object({ kind: z.literal('key-rotated'), ...rotationSchema.shape }),
  z.object({ kind: z.literal('tenant-created'), tenant: tenantSchema }),
  z.object({ kind: z.literal('tenant-updated'), tenant: tenantSchema }),
  /** The tenant, whose record names the version, has other rules from here on. */
  z.object({
    kind: z.literal('rules-updated'),
    tenant: tenantSchema,
    /** Both are canonical JSON; those of no rules are too. */
    rules: z.string(),
    former: z.string(),
    /** The text form that was set; absent: they were set as JSON. */
    source: z.string().optional(),
    /** Lines by which they differ. */
    added: z.int(),
    removed: z.int(),
  }),
]);

export type Change = Readonly<z.infer<typeof changeSchema>>;
type Kind = Change['kind'];
/** A mapped type, so that the compiler relates a change to the entry of its kind in `CHANGES`. */
type ChangeOf<Of extends Kind> = {
  [Each in Of]: { readonly kind: Each } & Extract<Change, { readonly kind: Each }>;
}[Of];
export type GrantChange = Extract<Change, { readonly grant: Grant }>;
/** `key` replaces `former`. */
export type KeyRotation = Readonly<z.infer<typeof rotationSchema>>;

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

// ---- what each kind means ----

/** What the result of an operation follows from if the log stores none: its last change. */
export type ChangeResult =
  | { readonly kind: 'grant'; readonly grant: GrantResult }
  | { readonly kind: 'namespace'; readonly created: boolean; readonly namespace: Namespace }
  | { readonly kind: 'key'; readonly key: ApiKeyRecord }
  | { readonly kind: 'key-revoked' }
  | ({ readonly kind: 'key-rotated' } & KeyRotation)
  | { readonly kind: 'tenant'; readonly tenant: Tenant }
  | { readonly kind: 'rules-written' };

/** Something besides a grant that is as the change says from here on, in memory, drafts and the state tables. */
export type StateSetting =
  | ({ readonly kind: 'namespace' } & Namespace)
  /** `tombstone`: it is revoked. */
  | { readonly kind: 'key'; readonly key: ApiKeyRecord; readonly tombstone: boolean }
  | { readonly kind: 'tenant'; readonly tenant: Tenant }
  /** `tenant` names the version. */
  | ({ readonly kind: 'rules' } & Omit<ChangeOf<'rules-updated'>, 'kind' | 'former'>);

interface ChangeMeaning<Of> {
  /** Its name in the audit log and the change feed. */
  readonly action: AuditAction;
  /** What the audit log has besides the action: fields, or their JSON. No hash of an API key. */
  readonly audited: (change: Of) => object | string;
  /** A grant is set by the change itself: see `endsGrant`. */
  readonly settings: (change: Of) => readonly StateSetting[];
  readonly result: (change: Of) => ChangeResult;
}

const NOTHING: readonly never[] = Object.freeze([]);

const GRANT_MEANING = {
  audited: (change: GrantChange): object => {
    const { subject, relation, object } = change.grant;
    const audited = { subject, relation, object, ...auditedAttributes(change.grant) };
    const former = formerTermsOf(change);
    return former === undefined ? audited : { ...audited, former_terms: termsRecord(former) };
  },
  settings: () => NOTHING,
};

const KEY_MEANING = {
  audited: ({ key }: { readonly key: ApiKeyRecord }): object => {
    return { key_id: key.keyId, name: key.name, scopes: scopesOf(key.scopes) };
  },
};

const TENANT_MEANING = {
  audited: ({ tenant: { name, plan, state, readers } }: { readonly tenant: Tenant }): object => {
    return { name, plan, state, readers };
  },
  settings: ({ tenant }: { readonly tenant: Tenant }): readonly StateSetting[] => [{ kind: 'tenant', tenant }],
  result: ({ tenant }: { readonly tenant: Tenant }): ChangeResult => ({ kind: 'tenant', tenant }),
};

const CHANGES: { readonly [Of in Kind]: ChangeMeaning<ChangeOf<Of>> } = {
  'grant-created': {
    ...GRANT_MEANING,
    action: 'grant.created',
    result: ({ grant }) => ({ kind: 'grant', grant: { kind: 'created', ...attributesOf(grant) } }),
  },
  'grant-revoked': {
    ...GRANT_MEANING,
    action: 'grant.revoked',
    result: () => ({ kind: 'grant', grant: { kind: 'revoked' } }),
  },
  'grant-updated': {
    ...GRANT_MEANING,
    action: 'grant.updated',
    result: ({ grant }) => ({ kind: 'grant', grant: { kind: 'changed', ...attributesOf(grant) } }),
  },
  'grant-expired': {
    ...GRANT_MEANING,
    action: 'grant.expired',
    // A revocation has found the grant expired: a collection is never repeated.
    result: () => ({ kind: 'grant', grant: { kind: 'not-found' } }),
  },
  'namespace-created': {
    action: 'namespace.created',
    audited: ({ name }) => ({ name }),
    settings: ({ name, createdAtMs }) => [{ kind: 'namespace', name, createdAtMs }],
    result: ({ name, createdAtMs }) => ({ kind: 'namespace', created: true, namespace: { name, createdAtMs } }),
  },
  'key-created': {
    ...KEY_MEANING,
    action: 'key.created',
    settings: ({ key }) => [{ kind: 'key', key, tombstone: false }],
    result: ({ key }) => ({ kind: 'key', key }),
  },
  'key-revoked': {
    ...KEY_MEANING,
    action: 'key.revoked',
    settings: ({ key }) => [{ kind: 'key', key, tombstone: true }],
    result: () => ({ kind: 'key-revoked' }),
  },
  'key-rotated': {
    action: 'key.rotated',
    audited: ({ key, former }) => ({
      ...KEY_MEANING.audited({ key }),
      former_key_id: former.keyId,
      former_ends_at: optionalTimestamp(former.expiresAtMs),
    }),
    settings: ({ key, former, revoked }) => [
      { kind: 'key', key: former, tombstone: revoked },
      { kind: 'key', key, tombstone: false },
    ],
    result: (change) => change,
  },
  'tenant-created': { ...TENANT_MEANING, action: 'tenant.created' },
  'tenant-updated': { ...TENANT_MEANING, action: 'tenant.updated' },
  'rules-updated': {
    action: 'rules.updated',
    // The canonical texts are compact JSON already.
    audited: ({ rules, former }) => `"rules":${rules},"former":${former}`,
    settings: ({ tenant, rules, source, added, removed }) => [
      { kind: 'tenant', tenant },
      { kind: 'rules', tenant, rules: source ?? rules, added, removed },
    ],
    result: () => ({ kind: 'rules-written' }),
  },
};

export const auditActionOf = ({ kind }: Change): AuditAction => CHANGES[kind].action;

export const settingsOf = <Of extends Kind>(change: ChangeOf<Of>): readonly StateSetting[] =>
  CHANGES[change.kind].settings(change);

/** The result of the operation whose last change this is, unless the log stores another. */
export const resultOf = <Of extends Kind>(change: ChangeOf<Of>): ChangeResult => CHANGES[change.kind].result(change);

/** A change as the audit log stores it: compact JSON, since a filter searches the text for its values. */
function auditText<Of extends Kind>(change: ChangeOf<Of>): string {
  const { action, audited } = CHANGES[change.kind];
  const fields = audited(change);
  return typeof fields === 'string' ? `{"action":"${action}",${fields}}` : JSON.stringify({ action, ...fields });
}

// ---- grants ----

export const isGrantChange = (change: Change): change is GrantChange => 'grant' in change;

/** Whether the tuple holds no grant after the change. */
export const endsGrant = ({ kind }: GrantChange): boolean => kind === 'grant-revoked' || kind === 'grant-expired';

/** By how much a change alters the number of grants. */
export const grantDifference = (change: GrantChange): -1 | 0 | 1 =>
  change.kind === 'grant-updated' ? 0 : endsGrant(change) ? -1 : 1;

const formerTermsOf = (change: GrantChange): GrantTerms | undefined =>
  change.kind === 'grant-updated' ? change.former : undefined;

/** By how much a change alters the number of grants of its own relation, and of those that carry a condition. */
export function countDifferences(change: GrantChange): readonly KeyCount[] {
  const { relation, condition } = change.grant;
  const former = formerTermsOf(change)?.condition;
  const isOwn = change.kind !== 'grant-updated' && !isRelation(relation);
  if (!isOwn && condition === undefined && former === undefined) return NOTHING;
  const grants = endsGrant(change) ? -1 : 1;
  return [
    ...(isOwn ? [{ key: `relation:${relation}`, grants } as const] : []),
    ...(condition === undefined ? [] : [{ key: conditionKey(condition), grants }]),
    ...(former === undefined ? [] : [{ key: conditionKey(former), grants: -1 }]),
  ];
}

const conditionKey = (condition: string): CountKey => `condition:${conditionNameOf(condition)}`;

/** Characters of the identifiers, terms and rules of a change. */
export function lengthOf(change: Change): number {
  if (change.kind === 'rules-updated') return change.rules.length + change.former.length + (change.source?.length ?? 0);
  if (!isGrantChange(change)) return 0;
  const { subject, object } = change.grant;
  const terms = textOfTerms(change.grant).length + textOfTerms(formerTermsOf(change)).length;
  return subject.length + object.length + terms;
}

// ---- rows ----

/** How many rows `deriveState` derives from the change. */
export function countStateRows(change: Change): number {
  if (!isGrantChange(change)) return settingsOf(change).length + 1;
  const isNew = change.kind === 'grant-created' && change.newSubject;
  return 2 + (isNew ? 1 : 0) + (change.grant.expiresAtMs === undefined || endsGrant(change) ? 0 : 1);
}

function grantRows(change: GrantChange, tenantId: TenantId, stamp: Stamp): StateWrite[] {
  const { subject, relation, object, expiresAtMs } = change.grant;
  const tombstone = endsGrant(change);
  const rows: StateWrite[] = [];
  if (change.kind === 'grant-created' && change.newSubject) rows.push({ kind: 'subject', tenantId, subject, stamp });
  if (expiresAtMs !== undefined && !tombstone) {
    rows.push({ kind: 'expiry', tenantId, expiresAtMs, subject, relation, object, stamp });
  }
  // A tombstone row has no terms that a later grant could inherit.
  const grant = tombstone ? grantOf(change.grant, withoutTerms(change.grant)) : change.grant;
  rows.push({ ...grant, kind: 'grant', tenantId, tombstone, stamp });
  return rows;
}

function settingRow(setting: StateSetting, origin: ChangeOrigin, { slot, stamp }: ChangePosition): StateWrite {
  const { tenantId } = origin;
  if (setting.kind === 'tenant') return { ...setting, slot, stamp };
  if (setting.kind !== 'rules') return { ...setting, tenantId, stamp };
  const { tenant, rules, added, removed } = setting;
  const { rulesVersion, rulesRevision: revision = revisionOfRules(rules) } = tenant;
  assert(rulesVersion !== undefined, 'the record of a tenant names the version of its rules');
  const { atMs, actor, requestId } = origin;
  const version: RulesVersion = { version: rulesVersion, revision, atMs, actor, requestId, added, removed };
  return { kind: 'rules', tenantId, version, rules, stamp };
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
    change: auditText(change),
  };
}

/** The state rows of one change, including that of the audit log. */
export function deriveState(change: Change, origin: ChangeOrigin, position: ChangePosition): StateWrite[] {
  const { tenantId } = origin;
  const { seq, index, stamp } = position;
  const rows = isGrantChange(change)
    ? grantRows(change, tenantId, stamp)
    : settingsOf(change).map((setting) => settingRow(setting, origin, position));
  // The month comes from the base, so all changes of an entry are in one month.
  const month = monthOf((stamp - index) / 1000);
  rows.push({ kind: 'audit-log', tenantId, month, row: auditLogRow(change, origin, seq, index), stamp });
  return rows;
}

/** The rows that a change leaves without use, for removal once they are behind the checkpoint. */
export function obsoleteRows(
  change: Change,
  tenantId: TenantId,
  { slot, stamp }: Pick<ChangePosition, 'slot' | 'stamp'>,
): RemovableRow[] {
  if (isGrantChange(change)) {
    const { subject, relation, object } = change.grant;
    return endsGrant(change) ? [{ kind: 'grant', tenantId, subject, relation, object, stamp }] : [];
  }
  return settingsOf(change).flatMap((setting): RemovableRow[] => {
    if (setting.kind === 'key' && setting.tombstone)
      return [{ kind: 'key', tenantId, keyId: setting.key.keyId, stamp }];
    if (setting.kind === 'tenant' && setting.tenant.state === 'deleted')
      return [{ kind: 'tenant', slot, tenantId, stamp }];
    return [];
  });
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
