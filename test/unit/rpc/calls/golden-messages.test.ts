// Messages byte for byte as earlier versions of the program wrote them: its neighbours in a cluster may be of one.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { FrontMessage, ShardMessage } from '../../../../src/rpc/messages.ts';
import {
  decodeFrontMessage,
  decodeShardMessage,
  encodeFrontMessage,
  encodeShardMessage,
} from '../../../../src/rpc/protocol.ts';
import type { CallName } from '../../../../src/shard/shard.ts';
import { asked, ROWS, sentCall } from './rows.ts';

/** The name of a call, its request, the bytes of the call, its answer, and the bytes of the reply. */
type GoldenCall = readonly [name: CallName, request: unknown, call: string, answer: unknown, reply: string];
/** The rest of a stream: who sends it, the message, its bytes, and as what it arrives. */
type GoldenFrame = readonly [from: 'front' | 'shard', message: object, bytes: string, received: object];

const lines = readFileSync(new URL('golden-messages.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n');
const golden: readonly (GoldenCall | GoldenFrame)[] = lines.map((line) => JSON.parse(line));
const isFrame = (each: GoldenCall | GoldenFrame): each is GoldenFrame => each[0] === 'front' || each[0] === 'shard';
const calls = golden.filter((each) => !isFrame(each));
const base64 = (bytes: Buffer): string => bytes.toString('base64');
/** As JSON has it: without what is undefined. */
const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

for (const row of ROWS) {
  describe(row.name, () => {
    const messages = calls.filter(([name]) => name === row.name);

    it('is written as ever, and means the same', async () => {
      assert.ok(messages.length > 0, 'the file has no message of this call');
      for (const [, request, call, answer, reply] of messages) {
        const sent = request ?? undefined;
        assert.equal(base64(encodeFrontMessage({ calls: [sentCall(row, sent)] })), call);
        const [received = assert.fail()] = decodeFrontMessage(Buffer.from(call, 'base64')).calls;
        const served = await asked(received, answer ?? undefined);
        assert.deepEqual(json(served.request), request);
        assert.equal(base64(encodeShardMessage({ replies: [{ ...served.body, id: 1 }] })), reply);
        const [arrived = assert.fail()] = decodeShardMessage(Buffer.from(reply, 'base64')).replies;
        assert.deepEqual(json(row.call.answerOf(arrived, sent)), answer);
      }
    });
  });
}

it('what a stream carries around the calls is written as ever', () => {
  for (const [from, message, bytes, received] of golden.filter(isFrame)) {
    const [encode, decode] =
      from === 'front'
        ? [() => encodeFrontMessage(message as FrontMessage), decodeFrontMessage]
        : [() => encodeShardMessage(message as ShardMessage), decodeShardMessage];
    assert.equal(base64(encode()), bytes);
    assert.deepEqual(json(decode(Buffer.from(bytes, 'base64'))), received);
  }
});
