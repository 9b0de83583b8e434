// Parses a file of declared tenants, and reports errors by file, line and path. What the file does not declare about a
// tenant stays as it is.

import { READERS_MAX } from '../../../../src/core/plans.ts';
import { SCOPES, type Scope } from '../../../../src/core/scopes.ts';
import type { ReadersSetting } from '../../../../src/core/tenants.ts';
import type { RuleSet } from '../../../../src/rules/rule-set.ts';
import { rulesInYaml } from '../rules-file.ts';
import { Cursor, parseYaml, plainOf } from '../yaml-file.ts';

/** Tenants of one file: each costs some requests, one after another for those that change. */
export const DECLARED_TENANTS_MAX = 1000;
/** Keys of one tenant, as many as plans allow. */
const DECLARED_KEYS_MAX = 1000;

export interface DeclaredKey {
  readonly name: string;
  /** In the order of SCOPES. */
  readonly scopes: readonly Scope[];
  /** `file:line: tenants[0].keys[1]`. */
  readonly place: string;
}

/** Undefined: not declared, and left as it is. */
export interface DeclaredTenant {
  readonly name: string;
  readonly plan: string | undefined;
  readonly state: 'active' | 'suspended' | undefined;
  /** `plan`: as the plan says. */
  readonly readers: ReadersSetting | 'plan' | undefined;
  readonly rules: RuleSet | undefined;
  readonly keys: readonly DeclaredKey[] | undefined;
  /** `file:line: tenants[0]`. */
  readonly place: string;
}

function scopesIn(cursor: Cursor): readonly Scope[] {
  const named = cursor.list(SCOPES.length).map((each) => {
    const { text } = each.text();
    const scope = SCOPES.find((known) => known === text);
    if (scope === undefined) throw each.failure(`must be one of ${SCOPES.join(', ')}.`);
    return scope;
  });
  if (named.length === 0 || new Set(named).size < named.length) {
    throw cursor.failure('must name at least one scope, and each once.');
  }
  return SCOPES.filter((scope) => named.includes(scope));
}

/** `seen`: the names so far, with their places. */
function demandNew(cursor: Cursor, name: string, seen: Map<string, string>): void {
  const other = seen.get(name);
  if (other !== undefined) throw cursor.failure(`is called ${JSON.stringify(name)}, as is ${other}.`);
  seen.set(name, cursor.path);
}

function keysIn(cursor: Cursor): readonly DeclaredKey[] {
  const seen = new Map<string, string>();
  return cursor.list(DECLARED_KEYS_MAX).map((each) => {
    const map = each.map(['name', 'scopes']);
    const name = each.demand(map, 'name').name();
    demandNew(each, name, seen);
    return { name, scopes: scopesIn(each.demand(map, 'scopes')), place: each.place };
  });
}

function stateIn(cursor: Cursor): 'active' | 'suspended' {
  const { text } = cursor.text();
  if (text !== 'active' && text !== 'suspended') throw cursor.failure('must be active or suspended.');
  return text;
}

function readersIn(cursor: Cursor): ReadersSetting | 'plan' {
  const value = plainOf(cursor.node);
  if (value === 'plan' || value === 'auto') return value;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= READERS_MAX) return value;
  throw cursor.failure(`must be a whole number from 0 to ${READERS_MAX}, auto or plan.`);
}

async function tenantIn(cursor: Cursor, plans: readonly string[]): Promise<DeclaredTenant> {
  const map = cursor.map(['name', 'plan', 'state', 'readers', 'rules', 'keys']);
  const plan = cursor.field(map, 'plan');
  const planName = plan?.text().text;
  if (planName !== undefined && !plans.includes(planName)) {
    throw plan?.failure(`must be one of the plans of the service: ${plans.join(', ')}.`);
  }
  const [state, readers, rules, keys] = ['state', 'readers', 'rules', 'keys'].map((name) => cursor.field(map, name));
  return {
    name: cursor.demand(map, 'name').name(),
    plan: planName,
    state: state === undefined ? undefined : stateIn(state),
    readers: readers === undefined ? undefined : readersIn(readers),
    rules: rules === undefined ? undefined : await rulesInYaml(rules),
    keys: keys === undefined ? undefined : keysIn(keys),
    place: cursor.place,
  };
}

/** Throws a CliFailure that names file, line and path. `plans`: those that the service knows. */
export async function parseDeclaration(
  file: string,
  bytes: Uint8Array,
  plans: readonly string[],
): Promise<readonly DeclaredTenant[]> {
  const root = new Cursor(file, parseYaml(file, bytes), '');
  const tenants = root.demand(root.map(['tenants']), 'tenants');
  const seen = new Map<string, string>();
  const declared: DeclaredTenant[] = [];
  for (const cursor of tenants.list(DECLARED_TENANTS_MAX)) {
    const tenant = await tenantIn(cursor, plans);
    demandNew(cursor, tenant.name, seen);
    declared.push(tenant);
  }
  return declared;
}
