// Misspells each member of each call, at every level. Invariant: the client, its language or the service refuses it by
// its name: a member that is dropped in silence, such as `context_grants`, would turn a denial into a permission.

import assert from 'node:assert/strict';
import type { Step } from './cases.ts';
import { contractFailures, type Runner } from './contract.ts';

type Members = Readonly<Record<string, unknown>>;

/** The members of these are the application's own. */
const FREE: ReadonlySet<string> = new Set(['context', 'properties', 'parameters']);

const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
const CONDITION = { name: 'noon', context: { hour: 12 } };
const CONTEXT = { context: { hour: 12 }, context_grants: [{ ...TUPLE, condition: CONDITION }] };
const LISTING = { relation: 'viewer', namespace: 'document', via: 'direct', limit: 5, ...CONTEXT };
const JOIN = { namespace: 'document', name: 'viewer', deep: ['folder'] };
const ENTITY = { type: 'user', id: 'ada', properties: { a: 1 } };
const ACTION = { name: 'viewer', properties: { a: 1 } };
const EVALUATION = { subject: ENTITY, action: ACTION, resource: ENTITY, context: { a: 1 } };
const SEARCH = { ...EVALUATION, page: { token: '', limit: 5 } };
const RULE_SET = {
  relations: ['reader'],
  conditions: [{ name: 'noon', parameters: { hour: 'int' }, expression: 'hour == 12' }],
  types: [{ namespace: 'document', relation: 'viewer', subjects: ['user'] }],
  rules: [{ namespace: 'document', name: 'can_read', any_of: [{ any_of: ['viewer'], but_not: ['owner'] }] }],
  groups: false,
  public: ['user'],
};

/** Every call with all members that all clients take. */
const CALLS: readonly (readonly [call: string, args: Members])[] = [
  ['check', { ...TUPLE, ...CONTEXT }],
  ['check', { ...TUPLE, ...CONTEXT, explain: true }],
  ['checkBulk', { checks: [TUPLE, TUPLE], ...CONTEXT }],
  ['createGrant', { ...TUPLE, expires_at: null, condition: CONDITION }],
  ['revokeGrant', TUPLE],
  [
    'writeBulk',
    {
      grants: [{ ...TUPLE, expires_at: null, condition: CONDITION }],
      revocations: [TUPLE],
      if: [{ ...TUPLE, exists: false }],
    },
  ],
  ['revokeGrants', { subject: 'user:ada', relation: 'viewer' }],
  ['listGrants', { subject: 'user:ada', relation: 'viewer', limit: 5 }],
  ['snapshotGrants', { on: ['document:viewer'], limit: 5 }],
  ['listObjects', { subject: 'user:ada', ...LISTING }],
  ['listSubjects', { object: 'document:plan', include: 'self', ...LISTING }],
  ['createNamespace', { name: 'document' }],
  ['createKey', { name: 'a', scopes: ['admin'], expires_at: null, idempotency_key: 'a' }],
  ['listKeys', { limit: 5 }],
  ['revokeKey', { key_id: 'key_0' }],
  ['readRules', { unless_revision: 'a' }],
  ['readRulesVersion', { version: 1 }],
  ['writeRules', { rule_set: RULE_SET, revision: 'a' }],
  ['writeRules', { rule_set: 'namespace document', outside_types: 'keep', revision: 'a' }],
  ['readJoin', { namespace: 'document', name: 'viewer', deep: ['folder'] }],
  ['readSets', { subject: 'user:ada', join: JOIN, perhaps: true, ...CONTEXT }],
  ['evaluate', EVALUATION],
  ['evaluateMany', { ...EVALUATION, evaluations: [EVALUATION], options: { evaluations_semantic: 'execute_all' } }],
  ['searchSubjects', SEARCH],
  ['searchResources', SEARCH],
  ['searchActions', SEARCH],
  ['listChanges', { since: 'now', namespace: 'document', relation: 'viewer', action: 'grant.created' }],
  ['listChanges', { since: 'now', on: ['document:viewer'] }],
];

const isRecord = (value: unknown): value is Members => typeof value === 'object' && value !== null;

/** The value with one member more, and the name of that. */
function* misspelt(value: unknown): Generator<readonly [unknown, string]> {
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      for (const [other, name] of misspelt(each)) yield [value.with(index, other), name];
    }
    return;
  }
  if (!isRecord(value)) return;
  for (const [name, each] of Object.entries(value)) {
    yield [{ ...value, [`${name}x`]: each }, `${name}x`];
    if (!FREE.has(name)) for (const [other, below] of misspelt(each)) yield [{ ...value, [name]: other }, below];
  }
}

/** Fails with each misspelt member that is not refused. For clients of languages without types. */
export async function runMembers(runner: Omit<Runner, 'cases'>): Promise<void> {
  const cases = CALLS.map(([call, args], index) => ({
    name: `${index}`,
    // The feed has no end.
    steps: [...misspelt(args)].map(([given, name]): Step & Members => ({
      call,
      args: given,
      take: 1,
      ...(call === 'listChanges' ? { page: true } : {}),
      expect: { unknown: name },
    })),
  }));
  assert.ok(cases.flatMap(({ steps }) => steps).length > 200);
  assert.deepEqual(await contractFailures({ ...runner, cases }), []);
}
