// The demo tenant of `dev`: one tenant with one key of all scopes, so that the first request works at once. Created
// through the same API as any other tenant; kept over restarts as long as it works.

import { GrantdError } from '../../core/errors.ts';
import { parseTenantId } from '../../core/ids.ts';
import { ALL_SCOPES } from '../../core/scopes.ts';
import type { Front, OperatorApi, RequestContext } from '../../front/front.ts';

const DEMO_TENANT_NAME = 'demo';
const DEMO_PLAN = 'scale';
const DEMO_KEY_NAME = 'demo';

export interface DemoTenant {
  readonly tenantId: string;
  readonly key: string;
}

/** Errors that mean that the tenant or key no longer exists. Any other error is a failure. */
const isMissing = (error: unknown): boolean =>
  error instanceof GrantdError && (error.code === 'unauthorized' || error.code === 'tenant-not-found');

/** Whether the key still gives access to its tenant. A suspended tenant counts: an operator has suspended it. */
async function works(front: Front, context: RequestContext, known: DemoTenant): Promise<boolean> {
  try {
    const session = await front.authenticate(context, known.key);
    await session.confirm(context);
    return session.tenantId === known.tenantId;
  } catch (error) {
    if (error instanceof GrantdError && error.code === 'tenant-suspended') return true;
    if (isMissing(error)) return false;
    throw error;
  }
}

async function findTenant(
  operator: OperatorApi,
  context: RequestContext,
  text: string | undefined,
): Promise<string | undefined> {
  const tenantId = parseTenantId(text ?? '');
  if (tenantId === undefined) return undefined;
  try {
    const tenant = await operator.call('readTenant', context, { tenantId });
    return tenant.state === 'active' || tenant.state === 'suspended' ? tenant.tenantId : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The demo tenant that `known` names, with a new key if that one was revoked; a new tenant if that one was deleted. */
export async function ensureDemoTenant(
  dependencies: {
    readonly front: Front;
    readonly operator: OperatorApi;
    /** A context for each call: a request id of its own, and a deadline. */
    readonly newContext: () => RequestContext;
  },
  known: { readonly tenantId: string | undefined; readonly key: string | undefined },
  options: { readonly operatorName: string },
): Promise<DemoTenant> {
  const { front, operator, newContext } = dependencies;
  const { operatorName } = options;
  if (known.tenantId !== undefined && known.key !== undefined) {
    const demo = { tenantId: known.tenantId, key: known.key };
    if (await works(front, newContext(), demo)) return demo;
  }
  const found = parseTenantId((await findTenant(operator, newContext(), known.tenantId)) ?? '');
  const tenantId =
    found ??
    (await operator.createTenant(newContext(), { name: DEMO_TENANT_NAME, plan: DEMO_PLAN, operator: operatorName }))
      .tenantId;
  const session = await operator.tenant(newContext(), tenantId, operatorName);
  const { text } = await session.createKey(newContext(), {
    name: DEMO_KEY_NAME,
    scopes: ALL_SCOPES,
    expiresAtMs: undefined,
  });
  return { tenantId, key: text };
}
