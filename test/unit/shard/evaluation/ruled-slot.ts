// One tenant with rules on a slot over a store in memory, and the same grants as a plain list, which the definition of
// rules is asked about.

import assert from 'node:assert/strict';
import type { CallContext } from '../../../../src/core/call-context.ts';
import type { TenantId } from '../../../../src/core/ids.ts';
import { EVERY_SUBJECT, isRelation, isRelationName, type Relation } from '../../../../src/core/tuples.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import type { NamedTuple } from '../../../../src/rules/questions.ts';
import { isGate, ownNames, type RuleSet } from '../../../../src/rules/rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import type { NamedAnswer } from '../../../../src/shard/shard.ts';
import { type NaiveGrant, type NaiveModel, naiveModel, type Truth } from '../../../kit/naive-rules.ts';
import { readAll } from '../../../kit/store/read-all.ts';
import { CONDITION } from '../../rules/random-rules.ts';
import { type OpenSlot, openSlot, type SlotOptions } from '../tools.ts';

const WRITES_PER_CALL = 1000;
/** Of a call: what these tests judge is the answer, however slow the machine. */
const DEADLINE_MS = 600_000;

export const relationOf = (text: string): Relation => {
  if (isRelationName(text)) return text;
  throw new Error(`${text} is no relation.`);
};

/** `subject relation object`, parts separated by white space. */
export function grantOf(text: string): NaiveGrant {
  const [subject = '', relation = '', object = ''] = text.split(' ');
  return { subject, relation, object };
}

/** The condition of the random cases: what it does not fix, the call gives or nobody. */
export const conditionText = (truth: Truth): string =>
  truth === 'undefined' ? CONDITION.name : `${CONDITION.name} {"allowed":${truth}}`;

export class RuledSlot {
  slot: OpenSlot;
  handle: number;
  readonly tenantId: TenantId;
  readonly #options: SlotOptions;

  private constructor(slot: OpenSlot, handle: number, tenantId: TenantId, options: SlotOptions) {
    this.slot = slot;
    this.handle = handle;
    this.tenantId = tenantId;
    this.#options = options;
  }

  static async open(rules: object, grants: readonly NaiveGrant[] = [], given: SlotOptions = {}): Promise<RuledSlot> {
    const options = { deadlineMs: DEADLINE_MS, ...given };
    const { slot, handle, tenantId } = await openSlot(options);
    const ruled = new RuledSlot(slot, handle, tenantId, options);
    await ruled.setRules(rules);
    await ruled.write(grants);
    return ruled;
  }

  async setRules(rules: object): Promise<void> {
    await this.setRuleSet(parseRuleSet(rules));
  }

  async setRuleSet(ruleSet: RuleSet): Promise<void> {
    // Grants that stricter types exclude stay.
    const request = { rules: RulesText.of(ruleSet), ifMatch: undefined, outsideTypes: 'keep' } as const;
    await this.slot.connection.writeRules(this.handle, this.slot.attempt(), request);
  }

  async write(grants: readonly NaiveGrant[], revoke = false): Promise<void> {
    for (let start = 0; start < grants.length; start += WRITES_PER_CALL) {
      const part = grants.slice(start, start + WRITES_PER_CALL);
      const writes = part.map(({ subject, relation, object, condition }) => ({
        subject,
        relation: relationOf(relation),
        object,
        revoke,
        ...(revoke ? {} : { condition: condition === undefined ? null : conditionText(condition) }),
      }));
      await this.slot.connection.writeGrants(this.handle, this.slot.attempt(), writes);
    }
  }

  /** Another owner, which has nothing in memory, over a store that has everything. */
  async goCold(): Promise<void> {
    await this.slot.applied();
    await this.slot.tenure.checkpointed();
    this.slot = await this.slot.restart(this.#options);
    this.handle = await this.slot.handle(this.tenantId);
  }

  async named(
    checks: readonly NamedTuple[],
    explain = false,
    denyUndefined = false,
    call: CallContext = {},
  ): Promise<NamedAnswer> {
    const request = { ...call, checks, explain, list: 'checks', denyUndefined };
    const answer = await this.slot.connection.checkNamed(this.handle, request);
    assert.equal(answer.authorized.length, checks.length);
    return answer;
  }

  async check(text: string): Promise<boolean> {
    return (await this.named([grantOf(text)])).authorized[0] === true;
  }

  objects(
    subject: string,
    relation: string,
    limit = 100,
    namespace?: string,
    call: ListingCall = {},
  ): Promise<readonly string[]> {
    return readAll((cursor) =>
      this.slot.connection.listObjects(this.handle, { ...call, subject, relation, namespace, limit, cursor }),
    );
  }

  /** `excluded`: takes those whom a gate excludes beside everyone. */
  holders(
    object: string,
    relation: string,
    limit = 100,
    namespace?: string,
    includeSelf = false,
    excluded: string[] = [],
    call: ListingCall = {},
  ): Promise<readonly string[]> {
    return readAll(async (cursor) => {
      const query = { ...call, object, relation, namespace, includeSelf, limit, cursor };
      const page = await this.slot.connection.listHolders(this.handle, query);
      excluded.push(...(page.excluded ?? []));
      assert.ok(page.items.length + (page.excluded?.length ?? 0) <= limit);
      return page;
    });
  }
}

/** `direct`: grants alone, whatever follows from them. */
type ListingCall = CallContext & { readonly direct?: boolean };

/** What the definition says about one state of a tenant. */
export class Definition {
  readonly #ruleSet: RuleSet;
  readonly #grants: readonly NaiveGrant[];
  readonly #models = new Map<string, NaiveModel>();

  constructor(ruleSet: RuleSet, grants: readonly NaiveGrant[]) {
    this.#ruleSet = ruleSet;
    this.#grants = grants;
  }

  holds(question: NamedTuple): boolean {
    return this.truthOf(question) === true;
  }

  truthOf({ subject, relation, object }: NamedTuple): Truth {
    const model = this.#models.get(subject) ?? naiveModel(this.#ruleSet, this.#grants, subject);
    this.#models.set(subject, model);
    return model.truthOf(relation, object);
  }

  get hasGates(): boolean {
    return this.#ruleSet.rules.some(({ anyOf }) => anyOf.some((each) => isGate(each) || each.all === true));
  }

  isGrantable(name: string): boolean {
    return isRelation(name) || ownNames(this.#ruleSet).some((each) => each === name);
  }

  /** The other ends of the grants of the relation that have this value. A state is one of every subject. */
  counterparts(side: 'subject' | 'object', entity: string, relation: string, value: true | 'undefined'): string[] {
    const isOfAll = side === 'subject' && this.#ruleSet.states.some((each) => each === relation);
    const from = isOfAll ? EVERY_SUBJECT : entity;
    const grants = this.#grants.filter((grant) => grant.relation === relation && grant[side] === from);
    const withValue = (wanted: Truth): ReadonlySet<string> =>
      new Set(
        grants
          .filter(({ condition = true }) => condition === wanted)
          .map(({ subject, object }) => (side === 'subject' ? object : subject)),
      );
    const met = withValue(true);
    return [...(value === true ? met : withValue('undefined').difference(met))];
  }

  isGranted(subject: string): boolean {
    return this.#grants.some((grant) => grant.subject === subject);
  }

  /** Whether a grant to everybody of its namespace is one to the subject. */
  isOneOfAll(subject: string): boolean {
    const { groups, public: namespaces } = this.#ruleSet;
    const namespace = subject.slice(0, subject.indexOf(':'));
    return namespaces.includes(namespace) && !subject.endsWith(':*') && !(groups && subject.includes('#'));
  }

  /** Asserts that the chain consists of grants that exist, and suffices by itself. */
  assertChain(question: NamedTuple, chain: readonly NamedTuple[]): void {
    const what = `${Object.values(question).join(' ')}: ${JSON.stringify(chain)}`;
    const same = (one: NamedTuple) => (other: NamedTuple) =>
      one.subject === other.subject && one.relation === other.relation && one.object === other.object;
    for (const grant of chain) assert.ok(this.#grants.some(same(grant)), `a grant that exists: ${what}`);
    assert.ok(new Definition(this.#ruleSet, chain).holds(question), `it suffices: ${what}`);
    for (const grant of chain) {
      const rest = chain.filter((each) => !same(grant)(each));
      assert.ok(!new Definition(this.#ruleSet, rest).holds(question), `it has no grant too many: ${what}`);
    }
  }
}
