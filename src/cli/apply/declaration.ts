// Parses a file of declared tenants, and reports errors by file, line and path. What the file does not declare about a
// tenant stays as it is.

import { GrantdError } from '../../core/errors.ts';
import { isUnknown } from '../../core/json-members.ts';
import { SCOPES, type Scope } from '../../core/scopes.ts';
import { parseRuleSet } from '../../rules/parse-rule-set.ts';
import type { RuleSet } from '../../rules/rule-set.ts';
import type { CliFailure } from '../failures.ts';
import { parseYaml, type YamlMap, type YamlNode, type YamlText, yamlFailure } from '../yaml-file.ts';

/** Tenants of one file: each costs some requests, one after another for those that change. */
export const DECLARED_TENANTS_MAX = 1000;
/** Keys of one tenant, as many as plans allow. */
const DECLARED_KEYS_MAX = 1000;
const NAME_LENGTH_MAX = 256;

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
  readonly rules: RuleSet | undefined;
  readonly keys: readonly DeclaredKey[] | undefined;
  /** `file:line: tenants[0]`. */
  readonly place: string;
}

const isPlainText = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text);

/** A node, with its place and path for messages. */
class Cursor {
  readonly #file: string;
  readonly node: YamlNode;
  readonly path: string;

  constructor(file: string, node: YamlNode, path: string) {
    this.#file = file;
    this.node = node;
    this.path = path;
  }

  get place(): string {
    return `${this.#file}:${this.node.line}: ${this.path}`;
  }

  failure(message: string): CliFailure {
    const where = this.path === '' ? 'The file' : this.path;
    return yamlFailure(this.#file, this.node.line, `${where} ${message}`);
  }

  map(known: readonly string[]): YamlMap {
    if (this.node.kind !== 'map') throw this.failure(`must be a map with ${known.join(', ')}.`);
    for (const [name, node] of this.node.fields) {
      if (known.includes(name)) continue;
      const shown = JSON.stringify(name.slice(0, 60));
      throw new Cursor(this.#file, node, this.path).failure(`has a key ${shown}, which ${isUnknown(name, known)}.`);
    }
    return this.node;
  }

  /** Undefined if it is not there. */
  field(map: YamlMap, name: string): Cursor | undefined {
    const node = map.fields.get(name);
    const path = this.path === '' ? name : `${this.path}.${name}`;
    return node === undefined ? undefined : new Cursor(this.#file, node, path);
  }

  demand(map: YamlMap, name: string): Cursor {
    const found = this.field(map, name);
    if (found === undefined) throw this.failure(`has no "${name}".`);
    return found;
  }

  list(max: number): readonly Cursor[] {
    if (this.node.kind !== 'list') throw this.failure('must be a list.');
    const { items } = this.node;
    if (items.length > max) throw this.failure(`has ${items.length} entries; at most ${max} are allowed.`);
    return items.map((item, index) => new Cursor(this.#file, item, `${this.path}[${index}]`));
  }

  text(): YamlText {
    if (this.node.kind !== 'text') throw this.failure('must be a text.');
    return this.node;
  }

  name(): string {
    const { text } = this.text();
    if (text === '' || [...text].length > NAME_LENGTH_MAX || !isPlainText(text)) {
      throw this.failure(`must have 1 to ${NAME_LENGTH_MAX} characters, none of them a control character.`);
    }
    return text;
  }
}

function plainOf(node: YamlNode): unknown {
  switch (node.kind) {
    case 'map':
      return Object.fromEntries([...node.fields].map(([name, each]) => [name, plainOf(each)]));
    case 'list':
      return node.items.map(plainOf);
    case 'null':
      return null;
    case 'text':
      return node.text;
    case 'value':
      return node.value;
  }
}

/** `{}` is no rules. */
function rulesIn(cursor: Cursor): RuleSet {
  const map = cursor.map(['rules', 'groups', 'public']);
  try {
    return parseRuleSet({
      rules: [],
      ...Object.fromEntries([...map.fields].map(([name, each]) => [name, plainOf(each)])),
    });
  } catch (error) {
    throw cursor.failure(`are no rules that a tenant can have: ${GrantdError.from(error).message}`);
  }
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

function tenantIn(cursor: Cursor, plans: readonly string[]): DeclaredTenant {
  const map = cursor.map(['name', 'plan', 'state', 'rules', 'keys']);
  const plan = cursor.field(map, 'plan');
  const planName = plan?.text().text;
  if (planName !== undefined && !plans.includes(planName)) {
    throw plan?.failure(`must be one of the plans of the service: ${plans.join(', ')}.`);
  }
  const [state, rules, keys] = ['state', 'rules', 'keys'].map((name) => cursor.field(map, name));
  return {
    name: cursor.demand(map, 'name').name(),
    plan: planName,
    state: state === undefined ? undefined : stateIn(state),
    rules: rules === undefined ? undefined : rulesIn(rules),
    keys: keys === undefined ? undefined : keysIn(keys),
    place: cursor.place,
  };
}

/** Throws a CliFailure that names file, line and path. `plans`: those that the service knows. */
export function parseDeclaration(file: string, bytes: Uint8Array, plans: readonly string[]): readonly DeclaredTenant[] {
  const root = new Cursor(file, parseYaml(file, bytes), '');
  const tenants = root.demand(root.map(['tenants']), 'tenants');
  const seen = new Map<string, string>();
  return tenants.list(DECLARED_TENANTS_MAX).map((cursor) => {
    const tenant = tenantIn(cursor, plans);
    demandNew(cursor, tenant.name, seen);
    return tenant;
  });
}
