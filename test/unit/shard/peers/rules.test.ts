// The rules of a tenant at its owner: written once, under conditions, kept over owners, gone with the tenant.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { NO_RULES, type RuleSet, revisionOfRules, ruleSetRecord, textOfRules } from '../../../../src/rules/rule-set.ts';
import { countLines } from '../../../../src/rules/rules-diff.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { complete } from '../../../../src/rules/steps.ts';
import { purgeTenants } from '../../../../src/shard/log/maintenance.ts';
import { decideRules } from '../../../../src/shard/log/write-decisions.ts';
import { previewRules } from '../../../../src/shard/peers/rules.ts';
import { WRITE_BEHIND } from '../../../kit/store/faulty-store.ts';
import { createRulesWrite, soon } from '../../../kit/store/store-fixtures.ts';
import {
  auditLogPage,
  type OpenSlot,
  openSlot,
  portsOf,
  SECRETS,
  SLOT,
  tuple,
  waitFor,
  wholeAuditLog,
} from '../tools.ts';

const rulesOf = (...names: readonly string[]): RuleSet =>
  parseRuleSet({ rules: names.map((name) => ({ namespace: 'doc', name, any_of: ['owner'] })) });
const revision = (ruleSet: RuleSet): string => revisionOfRules(textOfRules(ruleSet));
const FIRST = rulesOf('can_read');
const SECOND = rulesOf('can_read', 'can_edit');

const longRules = (start: string): RuleSet => {
  const names = Array.from({ length: 200 }, (_, index) => `${start}${index}_${'n'.repeat(55)}`);
  return parseRuleSet({ rules: names.map((name) => ({ namespace: 'doc', name, any_of: names.slice(0, 3) })) });
};
const LONG = longRules('a');

const write = (slot: OpenSlot, handle: number, ruleSet: RuleSet, ifMatch?: readonly string[], by = slot.attempt()) =>
  slot.connection.writeRules(handle, by, { rules: RulesText.of(ruleSet), ifMatch });

const changesOf = async (slot: OpenSlot, tenantId: Parameters<typeof wholeAuditLog>[1]) =>
  (await wholeAuditLog(slot, tenantId, { action: 'rules.updated' })).map(({ change }) => JSON.parse(change));

test('rules are read as written, by the same owner and by the next, and removed by an empty rule set', async () => {
  const { slot, tenantId, handle } = await openSlot();
  assert.deepEqual((await slot.connection.readRules(handle)).ruleSet, NO_RULES);
  assert.equal(slot.tenure.tenants.get(tenantId)?.tenant.rulesRevision, undefined);
  await write(slot, handle, FIRST);
  assert.deepEqual((await slot.connection.readRules(handle)).ruleSet, FIRST);
  // The next owner reads the log, the one after it the state tables.
  const second = await slot.restart();
  assert.deepEqual((await second.connection.readRules(await second.handle(tenantId))).ruleSet, FIRST);
  await second.applied();
  await second.tenure.checkpointed();
  const third = await second.restart();
  assert.equal(third.tenure.tenants.get(tenantId)?.tenant.rulesRevision, revision(FIRST));
  assert.deepEqual((await third.connection.readRules(await third.handle(tenantId))).ruleSet, FIRST);
  await write(third, await third.handle(tenantId), NO_RULES);
  assert.equal(third.tenure.tenants.get(tenantId)?.tenant.rulesRevision, undefined);
  const fourth = await third.restart();
  assert.deepEqual((await fourth.connection.readRules(await fourth.handle(tenantId))).ruleSet, NO_RULES);
});

test('another change of the tenant keeps its rules', async () => {
  const { slot, tenantId, handle } = await openSlot();
  await write(slot, handle, FIRST);
  await slot.update({ tenantId, name: 'Other' });
  assert.equal(slot.tenure.tenants.get(tenantId)?.tenant.rulesRevision, revision(FIRST));
  const next = await slot.restart();
  assert.deepEqual((await next.connection.readRules(await next.handle(tenantId))).ruleSet, FIRST);
});

test('a condition is decided with the write: of two writers that saw the same rules, one is refused', async () => {
  const { slot, tenantId, handle } = await openSlot();
  await write(slot, handle, FIRST, [revision(NO_RULES)]);
  const refused = { code: 'precondition-failed' };
  await assert.rejects(write(slot, handle, SECOND, [revision(NO_RULES)]), refused);
  await assert.rejects(write(slot, handle, SECOND, []), refused);
  const race = await Promise.allSettled([
    write(slot, handle, SECOND, [revision(FIRST)]),
    write(slot, handle, rulesOf('can_drop'), [revision(FIRST)]),
  ]);
  assert.deepEqual(race.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  assert.equal(slot.batches.at(-1), 1);
  await write(slot, handle, FIRST, [revision(NO_RULES), revision(SECOND)]);
  assert.equal((await changesOf(slot, tenantId)).length, 3);
});

test('a repeat of a write gets the first result, whatever the rules are by then', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const by = slot.attempt();
  await write(slot, handle, FIRST, [revision(NO_RULES)], by);
  await write(slot, handle, SECOND);
  await write(slot, handle, FIRST, [revision(NO_RULES)], by);
  assert.deepEqual((await slot.connection.readRules(handle)).ruleSet, SECOND);
  const next = await slot.restart();
  await write(next, await next.handle(tenantId), FIRST, [revision(NO_RULES)], by);
  assert.deepEqual((await next.connection.readRules(await next.handle(tenantId))).ruleSet, SECOND);
});

test('the audit log has each change once, with the rules before and after it', async () => {
  const { slot, tenantId, handle } = await openSlot();
  await write(slot, handle, FIRST);
  await write(slot, handle, FIRST);
  await write(slot, handle, SECOND);
  await write(slot, handle, NO_RULES);
  const record = (ruleSet: RuleSet) => JSON.parse(JSON.stringify(ruleSetRecord(ruleSet)));
  assert.deepEqual(await changesOf(slot, tenantId), [
    { action: 'rules.updated', rules: record(FIRST), former: record(NO_RULES) },
    { action: 'rules.updated', rules: record(SECOND), former: record(FIRST) },
    { action: 'rules.updated', rules: record(NO_RULES), former: record(SECOND) },
  ]);
});

test('a page of the audit log ends early where its changes of rules are long, and none is left out', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const sets = [LONG, longRules('b')];
  assert.ok(textOfRules(LONG).length > 50_000);
  for (let index = 0; index < 30; index += 1) await write(slot, handle, sets[index % 2] ?? NO_RULES);
  for (const newestFirst of [false, true]) {
    const page = await auditLogPage(slot, tenantId, { limit: 400, newestFirst });
    assert.ok(page.items.length < 15 && page.nextCursor !== undefined, `${page.items.length}`);
    const all = await wholeAuditLog(slot, tenantId, { limit: 400, newestFirst, action: 'rules.updated' });
    assert.equal(new Set(all.map(({ seq, index }) => `${seq}/${index}`)).size, 30);
  }
});

test('rules in memory are counted, evicted and read again', async () => {
  const { slot, tenantId, handle } = await openSlot({ cacheBytesMax: 400_000 });
  const rules = slot.tenure.tenants.get(tenantId)?.rules;
  assert.ok(rules);
  const before = slot.budget.pageBytes;
  await write(slot, handle, LONG);
  await slot.applied();
  using pin = await rules.pin();
  // A pin keeps them, whatever the budget.
  assert.ok(slot.budget.pageBytes - before > 5 * textOfRules(LONG).length);
  slot.budget.hold(1000);
  assert.equal(rules.loaded?.text, textOfRules(LONG));
  pin[Symbol.dispose]();
  for (let tries = 0; tries < 3; tries += 1) slot.budget.hold(1000);
  assert.equal(rules.loaded, undefined);
  assert.ok(slot.budget.pageBytes < 5 * textOfRules(LONG).length);
  assert.deepEqual((await slot.connection.readRules(handle)).ruleSet, LONG);
});

const WITH_CONDITIONS = parseRuleSet({
  conditions: ['even', 'odd'].map((name, rest) => ({ name, parameters: { n: 'int' }, expression: `n % 2 == ${rest}` })),
  rules: [],
});

test('conditions are compiled before rules are written, and by the next owner when they are pinned', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const rules = slot.tenure.tenants.get(tenantId)?.rules;
  assert.ok(rules);
  // A pin that is held over the commit finds them compiled.
  using pin = await rules.pin();
  await write(slot, handle, WITH_CONDITIONS);
  assert.equal(rules.ready, rules.pinned);
  assert.deepEqual([...rules.pinned.compiled.conditions.keys()], ['even', 'odd']);
  pin[Symbol.dispose]();
  const next = await slot.restart();
  const theirs = next.tenure.tenants.get(tenantId)?.rules;
  assert.ok(theirs);
  const conditions = () => theirs.ready?.compiled.conditions;
  assert.equal(conditions(), undefined);
  using _theirs = await theirs.pin();
  assert.deepEqual(conditions()?.get('odd')?.declaration, WITH_CONDITIONS.conditions[1]);
});

test('a condition that does not compile is refused by the owner too, and named', async () => {
  const { slot, handle } = await openSlot();
  const wrong = { ...NO_RULES, conditions: [{ name: 'odd', parameters: {}, expression: 'n %' }] };
  await assert.rejects(write(slot, handle, wrong), {
    code: 'invalid-request',
    message: /^"conditions\[0\]\.expression"/,
  });
  assert.deepEqual((await slot.connection.readRules(handle)).ruleSet, NO_RULES);
});

test('rules that state lacks are those that were committed, even if they were evicted', async () => {
  const { slot, tenantId, handle } = await openSlot({ cacheBytesMax: 400_000 });
  await write(slot, handle, FIRST);
  await slot.applied();
  slot.faults.turn('hold', WRITE_BEHIND);
  await write(slot, handle, LONG);
  const rules = slot.tenure.tenants.get(tenantId)?.rules;
  for (let tries = 0; tries < 3; tries += 1) slot.budget.hold(1000);
  assert.equal(rules?.loaded, undefined);
  assert.deepEqual((await slot.connection.readRules(handle)).ruleSet, LONG);
  slot.faults.restore(WRITE_BEHIND);
});

test('reads, tries and writes that wait for the rules share one read of the store', async () => {
  const { slot, tenantId, handle } = await openSlot();
  await write(slot, handle, FIRST);
  await slot.applied();
  await slot.tenure.checkpointed();
  const next = await slot.restart();
  const number = await next.handle(tenantId);
  next.faults.turn('hold', ['readRules']);
  const preview = next.connection.previewRules(number, { rules: RulesText.of(FIRST), ifMatch: undefined });
  const read = next.connection.readRules(number);
  const second = write(next, number, SECOND);
  await waitFor(() => next.faults.heldCalls() === 1);
  next.faults.restore(['readRules']);
  assert.deepEqual((await read).ruleSet, FIRST);
  assert.equal((await preview).complete, true);
  await second;
  assert.deepEqual((await next.connection.readRules(number)).ruleSet, SECOND);
  assert.deepEqual(next.tenure.tenants.get(tenantId)?.rules.loaded?.ruleSet, SECOND);
});

test('stored rules that are not those of the record are never answered from', async () => {
  const { slot, memory, tenantId, handle } = await openSlot();
  await write(slot, handle, FIRST);
  await slot.applied();
  await slot.tenure.checkpointed();
  const stamp = Date.now() * 1000 + 1_000_000_000;
  await memory.writeState([createRulesWrite(tenantId, 1, { rules: textOfRules(SECOND), stamp })], soon());
  const next = await slot.restart();
  await assert.rejects(next.connection.readRules(await next.handle(tenantId)), { code: 'unavailable' });
});

test('a deleted tenant leaves no rules behind', async () => {
  const { slot, memory, tenantId, handle } = await openSlot();
  await write(slot, handle, FIRST);
  await slot.update({ tenantId, state: 'deleting' });
  // Until its data is removed, versions that would leave the rules behind refuse it.
  assert.equal(slot.tenure.tenants.get(tenantId)?.tenant.rulesRevision, revision(FIRST));
  await waitFor(async () => {
    await purgeTenants(portsOf(slot, 0), slot.tenure);
    return !slot.tenure.tenants.has(tenantId);
  });
  await slot.applied();
  assert.equal(memory.rowsOf(SLOT, tenantId).get('rules'), 0);
  const [stored] = await memory.listTenants({ slot: SLOT, limit: 10 }, Number.MAX_SAFE_INTEGER);
  assert.deepEqual([stored?.state, stored?.rulesRevision], ['deleted', undefined]);
});

test('a preview counts the grants whose meaning changes, and changes nothing', async () => {
  const { slot, handle } = await openSlot();
  for (const [subject, object] of [
    ['team:a#member', 'doc:1'],
    ['team:a#member', 'doc:2'],
    ['team:b#member', 'doc:1'],
    ['team:c#', 'doc:1'],
    ['user:*', 'doc:1'],
    ['user:*', 'doc:2'],
    ['user:ann', 'doc:1'],
  ] as const) {
    await slot.grant(handle, tuple(subject, object));
  }
  await slot.revoke(handle, tuple('team:b#member', 'doc:1'));
  const preview = async (of: object, ifMatch?: readonly string[]) => {
    const request = { rules: RulesText.of(parseRuleSet(of)), ifMatch, outsideTypes: 'keep' } as const;
    const { access, ...figures } = await slot.connection.previewRules(handle, request);
    return { ...figures, access: [access?.lost.subjects, access?.gained.subjects, ...(access?.open ?? [])] };
  };
  const found = await preview({
    rules: [{ namespace: 'doc', name: 'can_read', any_of: ['viewer', 'owner', 'viewer from parent'] }],
    groups: true,
    public: ['user', 'team'],
  });
  assert.deepEqual(found, {
    revision: revision(NO_RULES),
    groupSubjects: 1,
    publicGrants: 2,
    notFollowed: 0,
    outsideTypes: 0,
    ungranted: [
      { namespace: 'doc', relation: 'owner' },
      { namespace: 'doc', relation: 'parent' },
    ],
    vanishing: [],
    // Ann, and whoever else is in the namespaces that become public.
    access: [0, 1, 'everyone'],
    scannedGrants: 8,
    complete: true,
  });
  const none = {
    groupSubjects: 0,
    publicGrants: 0,
    notFollowed: 0,
    outsideTypes: 0,
    ungranted: [],
    vanishing: [],
    access: [0, 0],
    scannedGrants: 0,
    complete: true,
  };
  assert.deepEqual(await preview({ rules: [] }), { revision: revision(NO_RULES), ...none });
  await assert.rejects(preview({ rules: [] }, ['other']), { code: 'precondition-failed' });
  // Without groups and public namespaces, rules do not follow the grants to them.
  const plain = await preview({ rules: [{ namespace: 'doc', name: 'can_read', any_of: ['viewer'] }] });
  assert.deepEqual(plain, { revision: revision(NO_RULES), ...none, notFollowed: 4, scannedGrants: 6 });
  const types = [{ namespace: 'doc', relation: 'viewer', subjects: ['user', 'team#member'] }];
  const { outsideTypes, complete } = await preview({ rules: [], types });
  assert.deepEqual([outsideTypes, complete], [3, true]);
  assert.deepEqual((await slot.connection.readRules(handle)).ruleSet, NO_RULES);
});

test('a preview ends at its bounds, and says so', async () => {
  const { slot, tenantId, handle } = await openSlot();
  for (const subject of ['team:a#member', 'team:b#member', 'team:c#member', 'user:*']) {
    for (const object of ['doc:1', 'doc:2']) await slot.grant(handle, tuple(subject, object));
  }
  const memory = slot.tenure.tenants.get(tenantId);
  assert.ok(memory);
  const context = { store: slot.store, clock: slot.clock, secrets: SECRETS };
  const listing = { tenure: slot.tenure, memory, assertWanted: () => {} };
  const preview = async (of: object, grantsMax: number, readingMsMax: number) => {
    const request = { rules: RulesText.of(parseRuleSet({ rules: [], ...of })), ifMatch: undefined };
    const found = await previewRules(context, listing, request, { grantsMax, readingMsMax });
    return [found.groupSubjects, found.publicGrants, found.scannedGrants, found.complete];
  };
  assert.deepEqual(await preview({ groups: true }, 1000, 1000), [3, 0, 8, true]);
  assert.deepEqual(await preview({ groups: true }, 3, 1000), [2, 0, 3, false]);
  assert.deepEqual(await preview({ groups: true, public: ['user'] }, 4, 1000), [1, 2, 4, false]);
  assert.deepEqual(await preview({ public: ['user'] }, 1, 1000), [0, 1, 1, false]);
  assert.deepEqual(await preview({ groups: true, public: ['user'] }, 1000, 0), [0, 0, 0, false]);
  // Whoever waits no longer ends it.
  const unwanted = { ...listing, assertWanted: () => assert.fail('nobody waits') };
  const request = { rules: RulesText.of(parseRuleSet({ rules: [], groups: true })), ifMatch: undefined };
  await assert.rejects(previewRules(context, unwanted, request), /nobody waits/);
});

test('a refused preview leaves the rules free to be evicted', async () => {
  const { slot, tenantId, handle } = await openSlot({ cacheBytesMax: 400_000 });
  await write(slot, handle, LONG);
  await slot.applied();
  const refused = slot.connection.previewRules(handle, { rules: RulesText.of(FIRST), ifMatch: [] });
  await assert.rejects(refused, { code: 'precondition-failed' });
  for (let tries = 0; tries < 3; tries += 1) slot.budget.hold(1000);
  assert.equal(slot.tenure.tenants.get(tenantId)?.rules.loaded, undefined);
});

test('what a peer sends as rules and is none is refused, and rules are stored by one text, whatever it sent', async () => {
  const { slot, handle, tenantId } = await openSlot();
  for (const text of ['{', '{"rules":1}', '[]', 'namespace', '{"rules":[],"relations":["viewer"]}']) {
    const request = { rules: new RulesText(text), ifMatch: undefined };
    await assert.rejects(slot.connection.writeRules(handle, slot.attempt(), request), { code: 'invalid-request' });
    await assert.rejects(slot.connection.previewRules(handle, request), { code: 'invalid-request' });
  }
  assert.equal((await slot.connection.readRules(handle)).text, textOfRules(NO_RULES));
  const spaced = JSON.stringify(JSON.parse(textOfRules(FIRST)), undefined, 2);
  const request = { rules: new RulesText(spaced), ifMatch: undefined };
  await slot.connection.writeRules(handle, slot.attempt(), request);
  assert.equal((await slot.connection.readRules(handle)).text, textOfRules(FIRST));
  // Decisions of the batch that writes them find them as they were prepared.
  const { rules } = slot.tenure.tenants.get(tenantId) ?? assert.fail();
  using prepared = await rules.prepare(RulesText.of(SECOND));
  assert.equal(rules.written(textOfRules(SECOND)), prepared.rules);
});

test('a write of the largest rules is compared with the present ones in steps, before its decision', async () => {
  const { slot, handle, tenantId } = await openSlot();
  const elements = Array.from({ length: 100 }, (_, index) => (index === 0 ? 'viewer' : 'owner'));
  const rules = Array.from({ length: 150 }, (_, index) => ({ namespace: 'doc', name: `n${index}`, any_of: elements }));
  const memory = slot.tenure.tenants.get(tenantId) ?? assert.fail();
  using _pinned = await memory.rules.pin();
  const stepsOf = async (ruleSet: RuleSet): Promise<number> => {
    using prepared = await memory.rules.prepare(RulesText.of(ruleSet));
    return [...decideRules(memory, { rules: prepared.rules, ifMatch: undefined })].length;
  };
  assert.ok((await stepsOf(parseRuleSet({ rules }))) >= 5);
  await write(slot, handle, parseRuleSet({ rules }));
  assert.ok((await stepsOf(FIRST)) >= 5);
});

test('writes of rules that wait together are each compared with those before them', async () => {
  const { slot, handle } = await openSlot();
  const written = [FIRST, SECOND, LONG, FIRST, NO_RULES, SECOND];
  await Promise.all(written.map((each) => write(slot, handle, each)));
  const versions = await slot.connection.listRulesVersions(handle);
  let lines = 0;
  for (const { added, removed } of versions) lines += added - removed;
  const present = (await slot.connection.readRules(handle)).ruleSet;
  assert.equal(lines, complete(countLines(NO_RULES, present)).added);
});
