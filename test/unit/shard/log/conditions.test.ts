// Grants with conditions, at their owner: which it takes, and what it keeps of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grantRecord } from '../../../../src/core/grant-attributes.ts';
import { parseCondition } from '../../../../src/core/grant-terms.ts';
import { grantOf, type Tuple } from '../../../../src/core/tuples.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import type { GrantedTuple, GrantResult } from '../../../../src/shard/shard.ts';
import { type OpenSlot, openSlot, type SlotOptions, tuple, turns } from '../tools.ts';

const ANN = tuple('user:ann', 'doc:1');
const OPEN = { name: 'open', parameters: { zone: 'string', now: 'timestamp' }, expression: 'zone == "CET"' };
const TRIAL = { name: 'trial', parameters: {}, expression: 'true' };

const rulesOf = (...conditions: readonly object[]) =>
  parseRuleSet({
    conditions,
    rules: [{ namespace: 'doc', name: 'can_read', any_of: ['viewer'] }],
    groups: true,
    public: ['user'],
  });

const conditionOf = (context: object = {}, name = 'open'): string => parseCondition({ name, context }).condition ?? '';

class ConditionalSlot {
  readonly slot: OpenSlot;
  readonly tenantId: Awaited<ReturnType<typeof openSlot>>['tenantId'];
  handle: number;

  constructor({ slot, tenantId, handle }: Awaited<ReturnType<typeof openSlot>>) {
    this.slot = slot;
    this.tenantId = tenantId;
    this.handle = handle;
  }

  static async open(options?: SlotOptions): Promise<ConditionalSlot> {
    const opened = new ConditionalSlot(await openSlot(options));
    await opened.setRules(OPEN, TRIAL);
    return opened;
  }

  /** Another owner, which has nothing in memory. */
  async restarted(options?: SlotOptions): Promise<ConditionalSlot> {
    const slot = await this.slot.restart(options);
    const { tenantId } = this;
    return new ConditionalSlot({ memory: slot.memory, slot, tenantId, handle: await slot.handle(tenantId) });
  }

  setRules(...conditions: readonly object[]): Promise<void> {
    const { slot, handle } = this;
    return slot.connection.writeRules(handle, slot.attempt(), {
      rules: RulesText.of(rulesOf(...conditions)),
      ifMatch: undefined,
    });
  }

  async write(...grants: readonly GrantedTuple[]): Promise<readonly GrantResult[]> {
    const { slot, handle } = this;
    const writes = grants.map((each) => ({ ...each, revoke: false }));
    return slot.connection.writeGrants(handle, slot.attempt(), writes);
  }

  async revoke(each: Tuple): Promise<GrantResult> {
    return this.slot.revoke(this.handle, each);
  }

  async conditions(of: Tuple = ANN): Promise<(string | undefined)[]> {
    const page = { limit: 100, cursor: undefined, relation: undefined };
    const { connection } = this.slot;
    const bySubject = await connection.listGrants(this.handle, { ...page, of: { subject: of.subject } });
    const byObject = await connection.listGrants(this.handle, { ...page, of: { object: of.object } });
    const ofTuple = ({ subject, object }: Tuple) => subject === of.subject && object === of.object;
    const found = bySubject.items.filter(ofTuple).map(({ condition }) => condition);
    assert.deepEqual(
      byObject.items.filter(ofTuple).map(({ condition }) => condition),
      found,
    );
    return found;
  }

  inUse(...conditions: readonly object[]): Promise<string> {
    return this.setRules(...conditions).then(
      () => '',
      (error: unknown) => String(error),
    );
  }
}

test('a grant keeps its condition through memory, log and tables, and shows it', async () => {
  const options = { pageLimits: { rowsPerRead: 1, rowsMax: 1 } };
  for (const pages of [undefined, options]) {
    const first = await ConditionalSlot.open(pages);
    const condition = conditionOf({ zone: 'CET "ü"' });
    const [created] = await first.write({ ...ANN, condition });
    assert.ok(created?.kind === 'created' && created.condition === condition);
    await first.write(tuple('user:ann', 'doc:2'), tuple('user:bob', 'doc:1'));
    assert.deepEqual(await first.conditions(), [condition]);
    assert.deepEqual(grantRecord(grantOf(ANN, created)).condition, { name: 'open', context: { zone: 'CET "ü"' } });
    const replayed = await first.restarted(pages);
    assert.deepEqual(await replayed.conditions(), [condition]);
    await replayed.slot.applied();
    assert.deepEqual(await (await replayed.restarted(pages)).conditions(), [condition]);
  }
});

test('absent keeps the condition of a grant, another one replaces it, and null removes it', async () => {
  const slot = await ConditionalSlot.open();
  const written = async (condition?: string | null): Promise<(string | undefined)[]> => {
    const [result] = await slot.write({ ...ANN, ...(condition === undefined ? {} : { condition }) });
    assert.ok(result !== undefined && 'grantId' in result);
    return slot.conditions();
  };
  assert.deepEqual(await written(), [undefined]);
  assert.deepEqual(await written('open'), ['open']);
  assert.deepEqual(await written(), ['open']);
  assert.deepEqual(await written(conditionOf({ zone: 'x' })), ['open {"zone":"x"}']);
  assert.deepEqual(await written('trial'), ['trial']);
  assert.deepEqual(await written(null), [undefined]);
  await slot.write({ ...ANN, condition: 'open', expiresAtMs: Date.now() + 1e9 });
  await slot.revoke(ANN);
  assert.deepEqual(await written(), [undefined], 'a new grant inherits nothing');
});

test('a condition that the rules do not declare is refused, and so is a key that it lacks', async () => {
  const slot = await ConditionalSlot.open();
  const refusal = async (condition: string): Promise<string> => {
    const [result] = await slot.write({ ...ANN, condition });
    assert.ok(result?.kind === 'refused' && result.code === 'invalid-condition');
    const bulk = { grants: [tuple('user:bob', 'doc:1'), { ...ANN, condition }], revocations: [], preconditions: [] };
    const written = await slot.slot.connection.writeBulk(slot.handle, slot.slot.attempt(), bulk);
    assert.ok(written.kind === 'refused' && written.code === 'invalid-condition');
    assert.equal(written.message, result.message.replace('"condition', '"grants[1].condition'));
    return result.message;
  };
  assert.match(
    await refusal('opn'),
    /^"condition.name" is "opn", which the rules do not declare; did you mean "open"\?/,
  );
  assert.match(await refusal('night'), /; allowed: "open", "trial"\./);
  assert.match(
    await refusal(conditionOf({ zon: 1 })),
    /^"condition.context.zon" is not a parameter .* did you mean "zone"/,
  );
  assert.match(
    await refusal(conditionOf({ x: 1 }, 'trial')),
    /^"condition.context.x" .* the condition has no parameters\./,
  );
  assert.match(await refusal(conditionOf({ zone: 1 })), /^"condition.context.zone" must be a string/);
  assert.match(await refusal(conditionOf({ now: '2026-01-15T09:30:00' })), /^"condition.context.now" must be .*zone/);
  assert.deepEqual(await slot.conditions(), []);
  const plain = await openSlot();
  const [result] = await new ConditionalSlot(plain).write({ ...ANN, condition: 'open' });
  assert.ok(result?.kind === 'refused' && /they declare no condition/.test(result.message));
});

test('the rules of the turn decide, not those of the call', async () => {
  const slot = await ConditionalSlot.open();
  slot.slot.faults.turn('hold', ['append']);
  const blocking = slot.write(tuple('user:x', 'doc:9'));
  const removal = slot.setRules(TRIAL);
  await turns(20);
  const writes = slot.write({ ...ANN, condition: 'open' });
  await turns(20);
  slot.slot.faults.restore(['append']);
  await Promise.all([blocking, removal]);
  const [result] = await writes;
  assert.ok(result?.kind === 'refused' && result.code === 'invalid-condition');
  // The other way around, in one batch: the grant comes first, and keeps the condition.
  slot.slot.faults.turn('hold', ['append']);
  const held = slot.write(tuple('user:x', 'doc:8'));
  const grant = slot.write({ ...ANN, condition: 'trial' });
  await turns(20);
  const refused = slot.inUse(OPEN);
  await turns(20);
  slot.slot.faults.restore(['append']);
  await held;
  assert.equal((await grant)[0]?.kind, 'created');
  assert.match(await refused, /"trial" has 1/);
});

test('a condition that grants carry is neither removed nor narrowed, at any owner', async () => {
  let slot = await ConditionalSlot.open();
  const others = Array.from({ length: 3 }, (_, index) => tuple('user:ann', `doc:${index + 2}`));
  await slot.write(...others.map((each) => ({ ...each, condition: conditionOf({ zone: 'CET' }) })));
  await slot.write({ ...ANN, condition: 'trial' });
  // Another expression, and one more parameter, take nothing away from what grants store.
  const wider = { ...OPEN, parameters: { ...OPEN.parameters, day: 'int' }, expression: 'day > 1' };
  for (const applied of [false, true]) {
    assert.match(await slot.inUse(TRIAL), /"open" has 3\. /);
    assert.match(await slot.inUse(), /"open" has 3, "trial" has 1\. /);
    assert.match(await slot.inUse({ ...OPEN, parameters: { zone: 'string' } }, TRIAL), /"open" has 3/);
    assert.match(await slot.inUse({ ...OPEN, parameters: { zone: 'string', now: 'int' } }, TRIAL), /"open" has 3/);
    assert.equal(await slot.inUse(wider, TRIAL), '');
    if (applied) await slot.slot.applied();
    slot = await slot.restarted();
  }
  await slot.write({ ...ANN, condition: 'open' });
  assert.equal(await slot.inUse(wider), '');
  await slot.write({ ...ANN, condition: null });
  for (const each of others) await slot.revoke(each);
  slot = await slot.restarted();
  assert.equal(await slot.inUse(), '');
});

test('a bulk write takes conditions, and a repeat gets the same result', async () => {
  const slot = await ConditionalSlot.open();
  const condition = conditionOf({ zone: '\u0000'.repeat(80) });
  const write = {
    grants: Array.from({ length: 100 }, (_, index) => ({
      ...tuple('user:ann', `doc:${'ü'.repeat(200)}${index}`),
      condition,
    })),
    revocations: [],
    preconditions: [],
  };
  const by = slot.slot.attempt();
  const first = await slot.slot.connection.writeBulk(slot.handle, by, write);
  assert.ok(first.kind === 'written' && first.grants.every((grant) => grant.created && grant.condition === condition));
  assert.deepEqual(await slot.slot.connection.writeBulk(slot.handle, by, write), first);
  const heir = await slot.restarted();
  assert.deepEqual(await heir.slot.connection.writeBulk(heir.handle, by, write), first);
  const again = await heir.slot.connection.writeBulk(heir.handle, heir.slot.attempt(), write);
  assert.ok(again.kind === 'written' && again.grants.every((grant) => !grant.created && grant.condition === condition));
  const { revoked } = await heir.slot.connection.revokeGrants(heir.handle, heir.slot.attempt(), {
    of: { subject: 'user:ann' },
    relation: undefined,
  });
  assert.equal(revoked, 100);
  assert.equal(await heir.inUse(), '');
});

for (const ruled of [false, true]) {
  test(`a cursor is bound to the context of its listing, ${ruled ? 'with' : 'without'} rules`, async () => {
    const { slot, handle } = await openSlot();
    if (ruled) {
      const request = { rules: RulesText.of(rulesOf()), ifMatch: undefined };
      await slot.connection.writeRules(handle, slot.attempt(), request);
    }
    for (const each of ['doc:1', 'doc:2', 'doc:3']) await slot.grant(handle, tuple('user:ann', each));
    const query = { subject: 'user:ann', relation: 'viewer', namespace: undefined, limit: 1 };
    const list = (cursor?: string, context?: string) =>
      slot.connection.listObjects(handle, { ...query, cursor, ...(context === undefined ? {} : { context }) });
    const first = await list(undefined, '{"a":1}');
    assert.deepEqual(first.items, ['doc:1']);
    assert.deepEqual((await list(first.nextCursor, '{"a":1}')).items, ['doc:2']);
    await assert.rejects(list(first.nextCursor, '{"a":2}'), { code: 'invalid-cursor' });
    await assert.rejects(list(first.nextCursor), { code: 'invalid-cursor' });
    await assert.rejects(list((await list()).nextCursor, '{"a":1}'), { code: 'invalid-cursor' });
  });
}
