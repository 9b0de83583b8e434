// Which service a command calls, and with what: an API key, which belongs to one tenant, or the operator's token, with
// which a command names its tenant. The choice never shows a secret.

import { parseApiKey } from '../../../src/core/api-keys.ts';
import { CliFailure, EXIT } from './failures.ts';
import type { JsonRecord } from './output/json-view.ts';
import type { ServiceTarget } from './service-client.ts';

export interface Endpoint {
  readonly url: string;
  readonly secret: string;
}

/** At least one of `key` and `operator` is there. */
export interface ServiceChoice {
  /** Where it comes from, such as `the context "staging"`. */
  readonly source: string;
  readonly key?: Endpoint | undefined;
  readonly operator?: Endpoint | undefined;
  /** The tenant of commands without `--tenant`. */
  readonly tenant?: string | undefined;
}

export interface TenantTarget {
  readonly target: ServiceTarget;
  /** Undefined with an API key. */
  readonly tenant: string | undefined;
}

const publicTarget = (key: Endpoint): ServiceTarget => ({ api: 'public', ...key });

/** For commands that only the operator's API has. Throws a usage failure without the operator's token. */
export function operatorTarget({ source, operator }: ServiceChoice): ServiceTarget {
  if (operator !== undefined) return { api: 'operator', ...operator };
  throw new CliFailure(
    `Only the operator's API has this, and ${source} names an API key. Set GRANTD_OPERATOR_URL and GRANTD_OPERATOR_TOKEN, or choose a context with the operator's token: "grantd context list" shows them.`,
    EXIT.usage,
  );
}

/** For commands that take an API key and nothing stronger. Throws a usage failure without one. */
export function keyTarget({ source, key }: ServiceChoice): ServiceTarget {
  if (key !== undefined) return publicTarget(key);
  throw new CliFailure(
    `This takes an API key, and ${source} has only the operator's token. Set GRANTD_URL and GRANTD_KEY, or choose a context with a key.`,
    EXIT.usage,
  );
}

const MISSING = "The tenant is missing: pass '--tenant <id>' or set GRANTD_TENANT.";

/** For commands within a tenant that only the operator's API has. Throws a usage failure. */
export function operatorTenantTarget(choice: ServiceChoice, named: string | undefined): TenantTarget {
  const target = operatorTarget(choice);
  const tenant = named ?? choice.tenant;
  if (tenant === undefined) throw new CliFailure(MISSING, EXIT.usage);
  return { target, tenant };
}

/**
 * For commands within a tenant. A tenant that is named belongs to the operator's API; without one, the API key counts,
 * since it may do less. `named`: with `--tenant`. Throws a usage failure.
 */
export function tenantTarget(choice: ServiceChoice, named: string | undefined): TenantTarget {
  const { source, key, operator } = choice;
  const tenant = named ?? choice.tenant;
  if (operator !== undefined && tenant !== undefined) return { target: { api: 'operator', ...operator }, tenant };
  if (key !== undefined && named === undefined) return { target: publicTarget(key), tenant: undefined };
  throw new CliFailure(
    operator === undefined
      ? `--tenant is for the operator's API, and ${source} names an API key, which belongs to one tenant. Leave it out.`
      : MISSING,
    EXIT.usage,
  );
}

/** What `grantd context show` prints: everything but the secrets. */
export function describeChoice({ source, key, operator, tenant }: ServiceChoice): JsonRecord {
  const parts = key && parseApiKey(key.secret);
  return {
    source,
    ...(key && { url: key.url, key_id: parts?.keyId ?? null, key_tenant_id: parts?.tenantId ?? null }),
    ...(operator && { operator_url: operator.url, operator_token: '(not shown)', tenant_id: tenant ?? null }),
  };
}
