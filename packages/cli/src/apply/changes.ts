// Compares the declared tenants with the present ones. It changes nothing.

import type { ReadersSetting } from '../../../../src/core/tenants.ts';
import { NO_RULES, type RuleSet, revisionOf } from '../../../../src/rules/rule-set.ts';
import { diffRules } from '../../../../src/rules/rules-diff.ts';
import { CliFailure } from '../failures.ts';
import type { RevisedRules } from '../tenant-rules.ts';
import type { DeclaredKey, DeclaredTenant } from './declaration.ts';

export interface PresentKey {
  readonly keyId: string;
  readonly name: string;
  readonly scopes: readonly string[];
}

export interface PresentTenant {
  readonly tenantId: string;
  readonly name: string;
  readonly plan: string;
  readonly state: string;
  /** `plan`: as the plan says. */
  readonly readers: ReadersSetting | 'plan';
}

/** The compared parts of a declared tenant that exists; undefined where nothing is declared. */
export interface PresentDetails {
  readonly rules: RevisedRules | undefined;
  readonly keys: readonly PresentKey[] | undefined;
}

interface FieldChange<Value = string> {
  readonly from: Value;
  readonly to: Value;
}

export interface RulesChange {
  /** The revision that the present rules must have. */
  readonly from: string;
  readonly to: RuleSet;
  /** Lines for people. */
  readonly diff: readonly string[];
}

export interface TenantChange {
  readonly name: string;
  /** Undefined: it is created. */
  readonly tenantId: string | undefined;
  readonly plan: FieldChange | undefined;
  readonly state: FieldChange | undefined;
  readonly readers: FieldChange<ReadersSetting | 'plan'> | undefined;
  readonly rules: RulesChange | undefined;
  readonly createdKeys: readonly DeclaredKey[];
  readonly revokedKeys: readonly PresentKey[];
  /** All keys before the change, to recognise a new one. */
  readonly presentKeys: readonly PresentKey[];
}

export interface Changes {
  /** In the order of the file. */
  readonly tenants: readonly TenantChange[];
  readonly deleted: readonly PresentTenant[];
}

export const countKeys = ({ tenants }: Changes, kind: 'createdKeys' | 'revokedKeys'): number =>
  tenants.reduce((sum, tenant) => sum + tenant[kind].length, 0);

export const isNothing = ({ tenants, deleted }: Changes): boolean => tenants.length === 0 && deleted.length === 0;

/** Throws if several tenants have the name: a file identifies a tenant by its name. */
export function findPresent(declared: DeclaredTenant, present: readonly PresentTenant[]): PresentTenant | undefined {
  const found = present.filter(({ name, state }) => name === declared.name && state !== 'deleting');
  if (found.length <= 1) return found[0];
  throw new CliFailure(
    `${declared.place} is the name of ${found.length} tenants: ${found.map(({ tenantId }) => tenantId).join(', ')}. Rename all but one with "grantd tenants update --name".`,
  );
}

const sameScopes = (declared: DeclaredKey, { scopes }: PresentKey): boolean =>
  scopes.length === declared.scopes.length && declared.scopes.every((scope) => scopes.includes(scope));

function missingKeys(declared: readonly DeclaredKey[], present: readonly PresentKey[]): DeclaredKey[] {
  return declared.filter((key) => {
    const named = present.filter(({ name }) => name === key.name);
    const other = named.find((each) => !sameScopes(key, each));
    if (other === undefined) return named.length === 0;
    throw new CliFailure(
      `${key.place} has other scopes than the key ${other.keyId}, which has ${other.scopes.join(', ')}. The scopes of a key cannot change: declare a key with another name, and remove this one later.`,
    );
  });
}

function rulesChange(to: RuleSet | undefined, from: RevisedRules): RulesChange | undefined {
  if (to === undefined) return undefined;
  const diff = diffRules(from.ruleSet, to);
  return diff.length === 0 ? undefined : { from: from.revision, to, diff };
}

const fieldChange = <Value>(from: Value, to: Value | undefined): FieldChange<Value> | undefined =>
  to === undefined || to === from ? undefined : { from, to };

/** A new tenant begins active, without rules and keys. `plan`: undefined is the default of the service. */
export function creationOf({ name, plan, state, readers, rules, keys = [] }: DeclaredTenant): TenantChange {
  return {
    name,
    tenantId: undefined,
    plan: plan === undefined ? undefined : { from: '', to: plan },
    state: fieldChange<string>('active', state),
    readers: fieldChange<ReadersSetting | 'plan'>('plan', readers),
    rules: rulesChange(rules, { ruleSet: NO_RULES, revision: revisionOf(NO_RULES) }),
    createdKeys: keys,
    revokedKeys: [],
    presentKeys: [],
  };
}

/** Undefined if nothing differs. `prune`: whether keys that are not declared are revoked. */
export function changeOf(
  declared: DeclaredTenant,
  present: PresentTenant,
  { rules, keys = [] }: PresentDetails,
  prune: boolean,
): TenantChange | undefined {
  const names = new Set(declared.keys?.map(({ name }) => name));
  const change: TenantChange = {
    name: declared.name,
    tenantId: present.tenantId,
    plan: fieldChange(present.plan, declared.plan),
    state: fieldChange<string>(present.state, declared.state),
    readers: fieldChange(present.readers, declared.readers),
    rules: rules === undefined ? undefined : rulesChange(declared.rules, rules),
    createdKeys: missingKeys(declared.keys ?? [], keys),
    revokedKeys: prune && declared.keys !== undefined ? keys.filter(({ name }) => !names.has(name)) : [],
    presentKeys: keys,
  };
  const { plan, state, readers, rules: changed, createdKeys, revokedKeys } = change;
  const isSame = [plan, state, readers, changed].every((each) => each === undefined);
  return isSame && createdKeys.length + revokedKeys.length === 0 ? undefined : change;
}

// ---- for people, as a diff, and for programs ----

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** A name in a line: quoted if it would not be clear where it ends. */
const shown = (name: string): string => (/^[\w.-]+$/.test(name) ? name : JSON.stringify(name));

function linesOf(change: TenantChange): string[] {
  const { name, tenantId, plan, state, readers, rules, createdKeys, revokedKeys } = change;
  const isNew = tenantId === undefined;
  const fields = [
    ['plan', plan],
    ['state', state],
    ['readers', readers],
  ] as const;
  return [
    `${isNew ? '+' : '~'} tenant ${shown(name)}${isNew ? '' : ` (${tenantId})`}`,
    ...fields.flatMap(([field, changed]) => {
      if (changed === undefined) return [];
      return isNew ? [`    + ${field}: ${changed.to}`] : [`    ~ ${field}: ${changed.from} -> ${changed.to}`];
    }),
    ...(rules?.diff ?? []).map((line) => `    ${line.slice(0, 2)}rule ${line.slice(2)}`),
    ...createdKeys.map((key) => `    + key ${shown(key.name)}: ${key.scopes.join(', ')}`),
    ...revokedKeys.map((key) => `    - key ${shown(key.name)} (${key.keyId}): ${key.scopes.join(', ')}`),
  ];
}

/** `1 tenant to create, 2 to change …`; `done`: they have been made. */
export function summaryOf(changes: Changes, done: boolean): string {
  const created = changes.tenants.filter(({ tenantId }) => tenantId === undefined).length;
  const changed = changes.tenants.length - created;
  const counts = [
    [created, 'tenant', 'create', 'created'],
    [changed, 'tenant', 'change', 'changed'],
    [changes.deleted.length, 'tenant', 'delete', 'deleted'],
    [countKeys(changes, 'createdKeys'), 'key', 'create', 'created'],
    [countKeys(changes, 'revokedKeys'), 'key', 'revoke', 'revoked'],
  ] as const;
  return counts
    .filter(([count]) => count > 0)
    .map(([count, what, verb, past]) => `${counted(count, what)} ${done ? past : `to ${verb}`}`)
    .join(', ');
}

export function renderChanges(changes: Changes): string {
  const deleted = changes.deleted.map(({ name, tenantId }) => `- tenant ${shown(name)} (${tenantId})`);
  return [...changes.tenants.flatMap(linesOf), ...deleted].join('\n');
}

/** Never a secret. */
export function changesJson(changes: Changes, { isDry }: { readonly isDry: boolean }): object {
  const tenants = changes.tenants.map(({ name, tenantId, plan, state, readers, rules, createdKeys, revokedKeys }) => ({
    action: tenantId === undefined ? 'create' : 'update',
    name,
    ...(tenantId === undefined ? {} : { tenant_id: tenantId }),
    ...(plan === undefined ? {} : { plan: plan.to }),
    ...(state === undefined ? {} : { state: state.to }),
    ...(readers === undefined ? {} : { readers: readers.to }),
    ...(rules === undefined ? {} : { rules: rules.diff }),
    ...(createdKeys.length === 0 ? {} : { created_keys: createdKeys.map((key) => key.name) }),
    ...(revokedKeys.length === 0 ? {} : { revoked_keys: revokedKeys.map(({ keyId }) => keyId) }),
  }));
  const deleted = changes.deleted.map(({ name, tenantId }) => ({ action: 'delete', name, tenant_id: tenantId }));
  return { dry_run: isDry, changes: [...tenants, ...deleted] };
}

/** The irreversible part as a sentence, and the answer that confirms it; undefined if there is none. */
export function lossOf(changes: Changes): { readonly what: string; readonly answer: string } | undefined {
  const { deleted } = changes;
  const revoked = countKeys(changes, 'revokedKeys');
  const parts: string[] = [];
  const answer: string[] = [];
  if (deleted.length > 0) {
    const names = deleted.map(({ name }) => shown(name)).join(', ');
    parts.push(`permanently deletes ${counted(deleted.length, 'tenant')} with all grants and keys (${names})`);
    answer.push(`delete ${counted(deleted.length, 'tenant')}`);
  }
  if (revoked > 0) {
    parts.push(`permanently revokes ${counted(revoked, 'key')}`);
    answer.push(`revoke ${counted(revoked, 'key')}`);
  }
  return parts.length === 0 ? undefined : { what: `This ${parts.join(' and ')}.`, answer: answer.join(' and ') };
}
