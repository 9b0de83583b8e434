// Decides each kind of write. A decision is made in batch order, against committed memory plus the earlier decisions of
// the same batch (the draft). It is synchronous: everything that it reads was pinned before the write was queued.

import { assert } from '../../core/assert.ts';
import type { Clock } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import {
  attributesOf,
  attributesOfId,
  type GrantAttributes,
  sameTerms,
  termsOf,
  withTerms,
} from '../../core/grant-attributes.ts';
import { expiryPassedInLog } from '../../core/grant-terms.ts';
import { type IdFactory, isDerivedId } from '../../core/ids.ts';
import { type Plans, resolvePlan } from '../../core/plans.ts';
import { type Tenant, type TenantUpdate, updatedTenant, withNextRules } from '../../core/tenants.ts';
import { grantOf, namespacesOf, type Tuple } from '../../core/tuples.ts';
import { narrowedConditions, narrowedTypes, undeclaredIn } from '../../rules/allowed-grants.ts';
import { hasRules, jsonOfRules, type RuleSet } from '../../rules/rule-set.ts';
import { countLines } from '../../rules/rules-diff.ts';
import type { Steps } from '../../rules/steps.ts';
import type { CountKey } from '../../store/store.ts';
import { type Change, type ChangeResult, resultOf } from '../log-changes.ts';
import { NAMES_PER_TENURE_MAX } from '../memory/relation-numbers.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import { NO_RULES_REVISION } from '../memory/tenant-rules.ts';
import type { WatchedTuple } from '../memory/watched-tuples.ts';
import {
  type BulkWriteResult,
  type GrantedTuple,
  type GrantRefusal,
  type GrantRequest,
  type RevokeResult,
  type RulesRequest,
  ShardFailure,
} from '../shard.ts';
import { asOf, type Draft } from './draft.ts';
import type { LoggedResults, TailOperation } from './entries.ts';
import { type OutsideGrants, typesInUse, UnreadGrants } from './outside-grants.ts';

export type OperationResult =
  | ChangeResult
  /** Expired grants that were collected. */
  | { readonly kind: 'collected'; readonly grants: number }
  | { readonly kind: 'bulk'; readonly bulk: BulkWriteResult }
  | ({ readonly kind: 'revocation' } & RevokeResult);

export interface Decision {
  readonly result: OperationResult;
  /** Empty: nothing is logged. Without `results`, the last one is the change that the operation requested. */
  readonly changes: readonly Change[];
  /** The part of the result that the log stores in addition to the changes. */
  readonly results?: LoggedResults;
}

/** Decides, or throws the GrantdError that the operation's caller gets. */
export type Decide = (draft: Draft) => Decision;

export interface DecideContext {
  readonly clock: Clock;
  readonly ids: IdFactory;
  readonly plans: Plans;
  /** Called when a limit of the plan was reached. */
  readonly onRefused: (code: LimitCode) => void;
}

type LimitCode = Extract<GrantRefusal, `${string}-limit-reached`> | 'key-limit-reached';

/** A write that was queued before its tenant's deletion must not follow it. Its caller then fails to authenticate. */
export function assertLives(draft: Draft, memory: TenantMemory): void {
  const { state } = draft.tenant(memory);
  if (state === 'deleting' || state === 'deleted')
    throw new ShardFailure('handle-unknown', 'The tenant is being deleted.');
}

export const limitReached = (memory: TenantMemory, what: string, max: number): string =>
  `The plan of tenant ${memory.tenantId} allows ${max} ${what}.`;

/** A result rather than a failure of the call: the other grants of the call take effect. */
const refused = (code: GrantRefusal, message: string): Decision => ({
  result: { kind: 'grant', grant: { kind: 'refused', code, message } },
  changes: [],
});

function refuseGrant({ onRefused }: DecideContext, code: Extract<LimitCode, GrantRefusal>, message: string): Decision {
  onRefused(code);
  return refused(code, message);
}

/**
 * Why the rules, as of this moment of the batch, do not allow the condition that the request sets; they must be pinned.
 * Undefined: they do, or it sets none. `place`: of the grant in its call.
 */
export function conditionFault(
  draft: Draft,
  memory: TenantMemory,
  { condition }: GrantedTuple,
  place = '',
): string | undefined {
  return typeof condition === 'string' ? undeclaredIn(draft.rules(memory).ruleSet, condition, place) : undefined;
}

/**
 * Why the types of the rules do not allow the grant as it would be after the write; undefined: they do. Its rules must
 * be pinned if the tenant has any. `place`: of the grant in its call.
 */
export function typeFault(
  draft: Draft,
  memory: TenantMemory,
  request: GrantedTuple,
  present: GrantAttributes | null | undefined,
  place = '',
): string | undefined {
  const { condition = present?.condition } = request;
  return draft.subjectTypes(memory).faultOf(request, condition ?? undefined, place);
}

/**
 * The tuples of a write are read while it waits, those of relations that are not declared then left out. Throws a
 * failure after which the front repeats the write if its relation has been declared since.
 */
export function demandHeld(tuple: WatchedTuple | undefined): WatchedTuple {
  if (tuple !== undefined) return tuple;
  throw new ShardFailure('not-serving', 'The relation was declared while the write waited. Nothing was done.');
}

/** `held`: undefined if the tenant did not declare the relation when the write was queued. */
export function decideGrant(
  context: DecideContext,
  memory: TenantMemory,
  held: WatchedTuple | undefined,
  request: GrantRequest,
): Decide {
  return (draft) => {
    assertLives(draft, memory);
    const { subject, object, expiresAtMs } = request;
    const wrong = draft.tupleFault(memory, request);
    if (wrong !== undefined) return refused(wrong.code, wrong.message);
    const tuple = demandHeld(held);
    const stored = draft.grant(memory, tuple, request);
    const { present, expired } = asOf(draft, request, stored);
    if (request.revoke) {
      if (present === null) return { result: { kind: 'grant', grant: { kind: 'not-found' } }, changes: expired };
      const grant = grantOf(request, present);
      return { result: { kind: 'grant', grant: { kind: 'revoked' } }, changes: [{ kind: 'grant-revoked', grant }] };
    }
    if (typeof expiresAtMs === 'number' && expiresAtMs <= draft.nowMs) {
      const wallMs = context.clock.wallMs();
      return refused('invalid-request', expiryPassedInLog(expiresAtMs, draft.nowMs, wallMs));
    }
    const fault = conditionFault(draft, memory, request);
    if (fault !== undefined) return refused('invalid-condition', fault);
    const untyped = request.keepsOutside ? undefined : typeFault(draft, memory, request, present);
    if (untyped !== undefined) return refused('type-not-allowed', untyped);
    if (present !== null) {
      const { attributes, changes } = decideTerms(request, present);
      const kind = changes.length > 0 ? 'changed' : 'exists';
      return { result: { kind: 'grant', grant: { kind, ...attributes } }, changes };
    }
    const missing = [...namespacesOf(subject, object)].filter((name) => draft.namespace(memory, name) === undefined);
    const { namespacesMax, grantsMax } = resolvePlan(context.plans, draft.tenant(memory).plan);
    if (grantsMax !== undefined && draft.grantCount(memory) - expired.length >= grantsMax) {
      return refuseGrant(context, 'grant-limit-reached', limitReached(memory, 'grants', grantsMax));
    }
    if (missing.length > 0 && draft.namespaceCount(memory) + missing.length > namespacesMax) {
      return refuseGrant(context, 'namespace-limit-reached', limitReached(memory, 'namespaces', namespacesMax));
    }
    const attributes = withTerms(attributesOfId(context.ids.create('grt')), request);
    const { createdAtMs } = attributes;
    return {
      result: { kind: 'grant', grant: { kind: 'created', ...attributes } },
      changes: [
        ...expired,
        ...missing.map((name): Change => ({ kind: 'namespace-created', name, createdAtMs })),
        {
          kind: 'grant-created',
          grant: grantOf(request, attributes),
          newSubject: !memory.pages.holdsSome(subject),
        },
      ],
    };
  };
}

/** For a tuple with a grant: keeps, replaces or removes its terms. */
export function decideTerms(
  request: GrantedTuple,
  present: GrantAttributes,
): { readonly attributes: GrantAttributes; readonly changes: readonly Change[] } {
  const attributes = request.keepsExisting ? present : withTerms(present, request);
  if (sameTerms(attributes, present)) return { attributes, changes: [] };
  const former = termsOf(present);
  return { attributes, changes: [{ kind: 'grant-updated', grant: grantOf(request, attributes), former }] };
}

/** Collects the grants that have expired by the time of the batch, unless they have ended or changed since. */
export function decideCollection(memory: TenantMemory, tuples: readonly CollectedTuple[]): Decide {
  return (draft) => {
    assertLives(draft, memory);
    const changes = tuples.flatMap(({ tuple, request }) => {
      return asOf(draft, request, draft.grant(memory, tuple, request)).expired;
    });
    return { result: { kind: 'collected', grants: changes.length }, changes };
  };
}

export interface CollectedTuple {
  readonly request: Tuple;
  readonly tuple: WatchedTuple;
}

export function decideNamespace(context: DecideContext, memory: TenantMemory, name: string): Decide {
  return (draft) => {
    assertLives(draft, memory);
    const present = draft.namespace(memory, name);
    if (present !== undefined) {
      return { result: { kind: 'namespace', created: false, namespace: present }, changes: [] };
    }
    const { namespacesMax } = resolvePlan(context.plans, draft.tenant(memory).plan);
    if (draft.namespaceCount(memory) >= namespacesMax) {
      context.onRefused('namespace-limit-reached');
      throw new GrantdError('namespace-limit-reached', limitReached(memory, 'namespaces', namespacesMax));
    }
    const namespace = { name, createdAtMs: context.clock.wallMs() };
    return {
      result: { kind: 'namespace', created: true, namespace },
      changes: [{ kind: 'namespace-created', ...namespace }],
    };
  };
}

export function decideTenant(tenant: Tenant, exists: () => boolean): Decide {
  return (draft) => {
    if (exists() || draft.hasTenant(tenant.tenantId)) {
      assert(isDerivedId(tenant.tenantId), 'a tenant id is never used again');
      throw new GrantdError('already-created', `An earlier request has created the tenant ${tenant.tenantId}.`);
    }
    return { result: { kind: 'tenant', tenant }, changes: [{ kind: 'tenant-created', tenant }] };
  };
}

export function decideTenantUpdate(memory: TenantMemory, update: TenantUpdate): Decide {
  return (draft) => {
    const present = draft.tenant(memory);
    const tenant = updatedTenant(present, update);
    const same =
      tenant.name === present.name &&
      tenant.plan === present.plan &&
      tenant.state === present.state &&
      tenant.readers === present.readers;
    return { result: { kind: 'tenant', tenant }, changes: same ? [] : [{ kind: 'tenant-updated', tenant }] };
  };
}

function bulkFromLog(
  { grants, revoked }: LoggedResults & { kind: 'bulk' },
  changes: readonly Change[],
): BulkWriteResult {
  const created = changes.flatMap((change) => (change.kind === 'grant-created' ? [change.grant] : [])).values();
  return {
    kind: 'written',
    grants: grants.map((grant) => {
      if (grant !== 'created') return { created: false, ...attributesOf(grant) };
      const { value } = created.next();
      assert(value !== undefined, 'an entry of the log has a change for each grant that was created');
      return { created: true, ...attributesOf(value) };
    }),
    revoked,
  };
}

/** The result of an operation in the log: a repeat gets it again. */
export function resultFromLog(operation: TailOperation): OperationResult | undefined {
  const { results } = operation;
  if (results?.kind === 'bulk') return { kind: 'bulk', bulk: bulkFromLog(results, operation.changes) };
  if (results !== undefined) return results;
  const change = operation.changes.at(-1);
  return change && resultOf(change);
}

// ---- rules ----

/**
 * Throws `precondition-failed` unless the rules have one of the revisions. `ifMatch`: undefined if it does not matter.
 */
export function demandRevision(ifMatch: readonly string[] | undefined, revision: string | undefined): void {
  const current = revision ?? NO_RULES_REVISION;
  if (ifMatch === undefined || ifMatch.includes(current)) return;
  throw new GrantdError(
    'precondition-failed',
    `The rules have the revision ${current}, which "If-Match" does not name. Nothing was changed.`,
  );
}

/**
 * Throws `relation-in-use` or `condition-in-use` if the next rules lack what grants need: their relation, or their
 * condition with its parameters. Such a grant would be lost, or mean something else.
 */
export function refuseLost(former: RuleSet, next: RuleSet, countOf: (key: CountKey) => number): void {
  const counted = (of: 'relation' | 'condition', names: readonly string[]): string =>
    names
      .map((name) => ({ name, grants: countOf(`${of}:${name}`) }))
      .filter(({ grants }) => grants > 0)
      .map(({ name, grants }) => `"${name}" has ${grants}`)
      .join(', ');
  for (const list of ['relations', 'states'] as const) {
    const removed = [...new Set(former[list]).difference(new Set(next[list]))];
    const used = counted('relation', removed);
    if (used === '') continue;
    throw new GrantdError(
      'relation-in-use',
      `"${list}" lacks ${list} that still have grants: ${used}. Revoke them first, or keep the ${list}. Nothing was changed.`,
    );
  }
  const conditions = counted('condition', narrowedConditions(former, next));
  if (conditions === '') return;
  throw new GrantdError(
    'condition-in-use',
    `"conditions" lacks conditions that grants carry, or parameters of them: ${conditions}. Revoke these grants first, or keep the conditions. Nothing was changed.`,
  );
}

/** The write was compared with rules that others have replaced since. Nothing was done. */
export class ReplacedRules extends Error {}

/**
 * Compares the rules with the present ones, which must be pinned, in steps: the decision itself is one of a batch. It
 * throws ReplacedRules if others have taken the place of those. `outside`: the stored grants as far as they were
 * compared with the types; throws UnreadGrants if they must be.
 */
export function* decideRules(
  memory: TenantMemory,
  { rules, ifMatch, outsideTypes }: RulesRequest,
  outside?: OutsideGrants,
): Steps<Decide> {
  const { text, ruleSet } = rules;
  const revision = hasRules(ruleSet) ? rules.revision : undefined;
  const former = memory.rules.pinned;
  const stricter = outsideTypes === 'keep' ? [] : narrowedTypes(former.ruleSet, ruleSet);
  yield;
  const lines = yield* countLines(former.ruleSet, ruleSet);
  return (draft) => {
    assertLives(draft, memory);
    const present = draft.tenant(memory);
    demandRevision(ifMatch, present.rulesRevision);
    const replaced = draft.rules(memory).text;
    if (replaced === text) return { result: { kind: 'rules-written' }, changes: [] };
    if (replaced !== former.text) throw new ReplacedRules();
    const countOf = (key: CountKey): number => draft.countOf(memory, key);
    refuseLost(former.ruleSet, ruleSet, countOf);
    const types = typesInUse(stricter, { grants: draft.grantCount(memory), countOf });
    if (types !== undefined) {
      if (!outside?.isOf(former.text)) throw new UnreadGrants(types, former.text);
      outside.demandNone(draft, memory);
    }
    if (!memory.relations.hasRoomFor(ruleSet.relations)) {
      throw new GrantdError(
        'overloaded',
        `The tenant has lately declared ${NAMES_PER_TENURE_MAX.toLocaleString('en')} different relations of its own. Nothing was changed.`,
      );
    }
    const tenant = withNextRules(present, revision);
    const { source } = ruleSet;
    const change = {
      kind: 'rules-updated' as const,
      tenant,
      rules: jsonOfRules(ruleSet),
      former: jsonOfRules(former.ruleSet),
      ...(source === undefined ? {} : { source }),
      ...lines,
    };
    return { result: { kind: 'rules-written' }, changes: [change] };
  };
}
