// Changes of tenants for people, as a diff, and for programs.

import { type Changes, countKeys, type TenantChange } from './changes.ts';

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
