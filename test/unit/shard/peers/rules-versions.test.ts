// The versions of a tenant's rules: one for each change, read from state as of the last commit, over owners; the newest
// are kept.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RULES_VERSIONS_MAX } from '../../../../src/core/rules-versions.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { NO_RULES, type RuleSet, revisionOf, textOfRules } from '../../../../src/rules/rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { WRITE_BEHIND } from '../../../kit/store/faulty-store.ts';
import { type OpenSlot, openSlot, settled, waitFor } from '../tools.ts';

const rulesOf = (...names: readonly string[]): RuleSet =>
  parseRuleSet({ rules: names.map((name) => ({ namespace: 'doc', name, any_of: ['owner'] })) });
const FIRST = rulesOf('can_read');
const SECOND = rulesOf('can_read', 'can_edit');

const write = async (slot: OpenSlot, handle: number, ruleSet: RuleSet, ifMatch?: readonly string[]) => {
  const by = slot.attempt();
  await slot.connection.writeRules(handle, by, { rules: RulesText.of(ruleSet), ifMatch });
  return by.requestId;
};
const versionsOf = async (slot: OpenSlot, handle: number): Promise<readonly number[]> =>
  (await slot.connection.listRulesVersions(handle)).map(({ version }) => version);
const UNKNOWN = { code: 'rules-version-not-found' };

test('each change of the rules is a version, the newest first, with its author and its text', async () => {
  const { slot, handle } = await openSlot();
  assert.deepEqual(await slot.connection.listRulesVersions(handle), []);
  await assert.rejects(slot.connection.readRulesVersion(handle, 1), UNKNOWN);
  const written = [FIRST, SECOND, NO_RULES, FIRST];
  const requests: string[] = [];
  for (const ruleSet of written) requests.push(await write(slot, handle, ruleSet));
  const listed = await slot.connection.listRulesVersions(handle);
  assert.deepEqual(
    listed.map(({ atMs: _, ...version }) => version),
    [
      { version: 4, revision: revisionOf(FIRST), actor: 'operator:test', requestId: requests[3], added: 1, removed: 0 },
      {
        version: 3,
        revision: revisionOf(NO_RULES),
        actor: 'operator:test',
        requestId: requests[2],
        added: 0,
        removed: 2,
      },
      {
        version: 2,
        revision: revisionOf(SECOND),
        actor: 'operator:test',
        requestId: requests[1],
        added: 1,
        removed: 0,
      },
      { version: 1, revision: revisionOf(FIRST), actor: 'operator:test', requestId: requests[0], added: 1, removed: 0 },
    ],
  );
  const times = listed.map(({ atMs }) => atMs);
  assert.deepEqual(
    times,
    times.toSorted((left, right) => right - left),
  );
  for (const [index, ruleSet] of written.entries()) {
    assert.equal((await slot.connection.readRulesVersion(handle, index + 1)).text, textOfRules(ruleSet));
  }
  for (const version of [0, 5, 2 ** 32 - 1]) {
    await assert.rejects(slot.connection.readRulesVersion(handle, version), UNKNOWN);
  }
});

test('a write that changes nothing, or is refused, makes no version', async () => {
  const { slot, handle } = await openSlot();
  await write(slot, handle, NO_RULES);
  assert.deepEqual(await versionsOf(slot, handle), []);
  await write(slot, handle, FIRST);
  await write(slot, handle, FIRST);
  await assert.rejects(write(slot, handle, SECOND, [revisionOf(NO_RULES)]), { code: 'precondition-failed' });
  await slot.connection.previewRules(handle, { rules: RulesText.of(SECOND), ifMatch: undefined });
  assert.deepEqual(await versionsOf(slot, handle), [1]);
});

test('a version that was acknowledged is listed, however far state lags behind', async () => {
  const { slot, handle } = await openSlot();
  slot.faults.turn('hold', WRITE_BEHIND);
  await write(slot, handle, FIRST);
  await write(slot, handle, SECOND);
  const reads = [versionsOf(slot, handle), slot.connection.readRulesVersion(handle, 1)];
  assert.equal(await settled(Promise.race(reads)), false);
  slot.faults.restore(WRITE_BEHIND);
  assert.deepEqual(await Promise.all(reads), [[2, 1], RulesText.of(FIRST)]);
});

test('a version that is committed while the store is read is left out', async () => {
  const { slot, handle } = await openSlot();
  await write(slot, handle, FIRST);
  await slot.applied();
  slot.faults.turn('hold', ['listRulesVersions']);
  const listed = versionsOf(slot, handle);
  await waitFor(() => slot.faults.heldCalls() === 1);
  await write(slot, handle, SECOND);
  await slot.applied();
  slot.faults.restore(['listRulesVersions']);
  assert.deepEqual(await listed, [1]);
  assert.deepEqual(await versionsOf(slot, handle), [2, 1]);
});

test('versions go on with the next owner, from its log and from state, and belong to one tenant', async () => {
  const { slot, tenantId, handle } = await openSlot();
  await write(slot, handle, FIRST);
  const second = await slot.restart();
  await write(second, await second.handle(tenantId), NO_RULES);
  await second.applied();
  await second.tenure.checkpointed();
  const third = await second.restart();
  const theirs = await third.handle(tenantId);
  await write(third, theirs, SECOND);
  assert.deepEqual(await versionsOf(third, theirs), [3, 2, 1]);
  assert.equal((await third.connection.readRulesVersion(theirs, 1)).text, textOfRules(FIRST));
  const other = await third.handle(await third.createTenant());
  assert.deepEqual(await versionsOf(third, other), []);
  await assert.rejects(third.connection.readRulesVersion(other, 1), UNKNOWN);
});

test('the newest versions are kept; older ones are replaced', async () => {
  const { slot, memory, tenantId, handle } = await openSlot();
  const last = RULES_VERSIONS_MAX + 2;
  for (let version = 1; version <= last; version += 1) await write(slot, handle, rulesOf(`name_${version}`));
  const versions = await versionsOf(slot, handle);
  assert.deepEqual([versions.length, versions[0], versions.at(-1)], [RULES_VERSIONS_MAX, last, 3]);
  await assert.rejects(slot.connection.readRulesVersion(handle, 2), UNKNOWN);
  assert.equal((await slot.connection.readRulesVersion(handle, 3)).text, textOfRules(rulesOf('name_3')));
  assert.deepEqual((await slot.connection.readRules(handle)).ruleSet, rulesOf(`name_${last}`));
  assert.equal(memory.rowsOf(0, tenantId).get('rules'), RULES_VERSIONS_MAX);
});
