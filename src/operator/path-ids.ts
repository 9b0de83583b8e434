// The tenant, the key and the version of rules in the path of a request, in the operator's API and in the console, and
// the errors for those that do not exist.

import { GrantdError } from '../core/errors.ts';
import { type KeyId, parseKeyId, parseTenantId, type TenantId } from '../core/ids.ts';
import { parseVersion } from '../core/rules-versions.ts';
import type { Tenant } from '../core/tenants.ts';

interface WithPath {
  /** From the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
}

const noTenant = (): GrantdError => new GrantdError('tenant-not-found', 'There is no tenant with this ID.');

export const noKey = (): GrantdError =>
  new GrantdError('key-not-found', 'The tenant has no active API key with this ID.');

/** The tenant in the path. Throws `tenant-not-found` for an ID that grantd cannot have issued. */
export function tenantIdOf({ parameters }: WithPath): TenantId {
  const tenantId = parseTenantId(parameters.tenantId ?? '');
  if (tenantId === undefined) throw noTenant();
  return tenantId;
}

/** The key in the path. Throws `key-not-found` for an ID that grantd cannot have issued. */
export function keyIdOf({ parameters }: WithPath): KeyId {
  const keyId = parseKeyId(parameters.key_id ?? parameters.keyId ?? '');
  if (keyId === undefined) throw noKey();
  return keyId;
}

/** The version of rules in the path. Throws `rules-version-not-found` for one that no rules can have. */
export function versionOf({ parameters }: WithPath): number {
  const version = parseVersion(parameters.version);
  if (version !== undefined) return version;
  throw new GrantdError('rules-version-not-found', 'The rules have no version with this number.');
}

const SLOT_PATTERN = /^(?:0|[1-9]\d{0,8})$/;

/** The slot in the path. Throws `invalid-request` for what is not a number. */
export function slotOf({ parameters }: WithPath): number {
  const { slot = '' } = parameters;
  if (!SLOT_PATTERN.test(slot)) throw new GrantdError('invalid-request', 'The slot in the path is not a number.');
  return Number(slot);
}

/** The tenant itself. Throws `tenant-not-found` for one that no longer exists. */
export function requirePresent<Given extends Tenant>(tenant: Given): Given {
  if (tenant.state === 'deleted') throw noTenant();
  return tenant;
}
