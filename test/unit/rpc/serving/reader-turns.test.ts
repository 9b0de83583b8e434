// A reader that has more to do than time: what waits there is answered at the position of its own message, whatever
// messages come in the meantime.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { slotOfTenant } from '../../../../src/core/slots.ts';
import { wireNumberOf } from '../../../../src/core/tuples.ts';
import { systemClock } from '../../../../src/roles/process/system.ts';
import type { FrontMessage } from '../../../../src/rpc/messages.ts';
import { PAIR_META, ReaderPair } from '../../../contract/support/reader-pair.ts';
import { MemoryStore } from '../../../kit/store/memory-store.ts';
import { until } from '../../front/harness.ts';
import { HeldTurns } from '../../support/held-turns.ts';
import { HELLO, listen, openStream } from '../harness.ts';

const viewer = (subject: string) => ({ subject, relation: 'viewer', object: 'doc:1' }) as const;
const VIEWER = wireNumberOf('viewer');
const NAMED = 0;
const [ANN, BOB] = ['user:ann', 'user:bob'];

/** A stream to a reader that has everything in memory, whose every further check and call waits. */
async function setUp(t: TestContext) {
  const pair = await ReaderPair.start(t, new MemoryStore({ clock: systemClock }), (node) => {
    const { shard } = node.connectShard();
    return { follow: (_, request) => shard.call('followTenant', {}, request) };
  });
  const { tenantId } = pair;
  const turns = new HeldTurns();
  turns.holding = false;
  const server = await listen(t, () => pair.reader.node, { turns });
  const peer = openStream(t, server.address, HELLO);
  const credentials = await pair.createKey();
  await pair.read(credentials);
  await pair.writeRules({ namespace: 'doc', name: 'can_read', any_of: ['viewer'] });
  await pair.write({ grants: [viewer(ANN)] });
  peer.stream.write({ calls: [{ id: 1, authenticateAtReader: credentials }] });
  const handle = (await peer.reply(1)).handle?.handle ?? assert.fail('there is no handle');

  /** A check by number, one by name and a call. Their ids: this one and the two after it. */
  const asking = (id: number, subject: string): FrontMessage => ({
    checks: {
      ids: [id, id + 1],
      handles: [handle, handle],
      subjects: [subject, subject],
      relations: [VIEWER, NAMED],
      objects: ['doc:1', 'doc:1'],
      names: ['can_read'],
      contexts: [''],
    },
    calls: [{ id: id + 2, handle, checkBulk: { subjects: [subject], relations: [VIEWER], objects: ['doc:1'] } }],
  });
  /** Their answers, once they are there. */
  const answers = async (id: number): Promise<readonly unknown[]> => {
    const results = () => peer.messages.flatMap(({ checkResults }) => checkResults ?? []);
    const single = (of: number): boolean | undefined =>
      results().some(({ authorized }) => authorized.includes(of)) ||
      (results().some(({ denied }) => denied.includes(of)) ? false : undefined);
    const bulk = () => peer.messages.flatMap(({ replies }) => replies).find((reply) => reply.id === id + 2);
    const all = () => [single(id), single(id + 1), bulk()?.bulkResults?.authorized];
    await until(() => results().some(({ failed }) => failed.length > 0) || !all().includes(undefined));
    return all();
  };
  const position = () =>
    pair.owner.connection.readPosition({ slot: slotOfTenant(tenantId, PAIR_META.slots), tenantId });
  /** How often calls had to wait for an answer of the owner. */
  const questions = async (): Promise<number | undefined> => {
    const { readers } = await pair.reader.operator.listSlots();
    return readers.find((each) => each.tenantId === tenantId)?.readIndexes;
  };
  peer.stream.write(asking(2, ANN));
  assert.deepEqual(await answers(2), [true, true, [true]]);
  turns.holding = true;
  return { ...peer, pair, tenantId, credentials, turns, asking, answers, position, questions };
}

test('what waited is answered at the position of its message, whatever has come since', async (t) => {
  const { stream, tenantId, credentials, turns, asking, answers, position, questions } = await setUp(t);
  const asked = await questions();
  stream.write({ ...asking(10, ANN), positions: [await position()] });
  stream.write({ calls: [{ id: 20, authenticateAtReader: credentials }] });
  await until(() => turns.waiting === 4);
  turns.release(tenantId);
  assert.deepEqual(await answers(10), [true, true, [true]]);
  assert.equal(await questions(), asked);
});

test('what waited without a position asks the owner, although an earlier message had one', async (t) => {
  const { stream, pair, turns, asking, answers, position } = await setUp(t);
  stream.write({ ...asking(10, ANN), positions: [await position()] });
  await pair.write({ grants: [viewer(BOB)] });
  stream.write(asking(20, BOB));
  await until(() => turns.waiting === 6);
  turns.release();
  assert.deepEqual(await answers(10), [true, true, [true]]);
  assert.deepEqual(await answers(20), [true, true, [true]]);
});
